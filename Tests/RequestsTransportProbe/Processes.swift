// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The address of a server on the loopback, by its port; the process ends if there is none.
private func url(_ port: String?) -> URL {
    guard let port, let url = URL(string: "http://127.0.0.1:\(port)/") else { exit(64) }
    return url
}

/// Sends a request without an operation; returns the code of its error, or nil for success or no end within 10 seconds.
private func send(_ url: URL, over transport: any HTTPTransport) -> (code: RequestError.Code?, hasEnded: Bool) {
    let (ended, code) = (DispatchSemaphore(value: 0), Locked<RequestError.Code?>(nil))
    let transfer = transport.send(TransportRequest(HTTPRequest(url: url))) { event in
        guard case .end(let error) = event else { return }
        code.withLock { $0 = error?.code }
        ended.signal()
    }
    let hasEnded = ended.wait(timeout: .now() + 10) == .success
    return withExtendedLifetime(transfer) { (code.withLock { $0 }, hasEnded) }
}

#if os(Linux)
/// Sends a request while no thread can be started, and another when one can; the argument is the port of a server.
func sendWithoutThreads(_ arguments: [String]) {
    let url = url(arguments.first)
    guard CurlTransport.isAvailable else { exit(65) }
    // The limit doesn't apply to root.
    if geteuid() == 0, setuid(65534) != 0 { exit(66) }
    // RLIMIT_NPROC, which Swift doesn't import.
    let threads = __rlimit_resource_t(6)
    var limit = rlimit()
    getrlimit(threads, &limit)
    let former = limit.rlim_cur
    limit.rlim_cur = 0
    setrlimit(threads, &limit)
    let transport = CurlTransport()
    let first = send(url, over: transport)
    guard first.hasEnded, first.code == .other else { exit(1) }
    limit.rlim_cur = former
    setrlimit(threads, &limit)
    let second = send(url, over: transport)
    exit(second.hasEnded && second.code == nil ? 0 : 2)
}

/// Sends a request, and then another in a fork; the argument is the port of a server.
func sendInAFork(_ arguments: [String]) {
    let url = url(arguments.first)
    let transport = CurlTransport()
    guard send(url, over: transport).code == nil else { exit(65) }
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(66) }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    guard child != 0 else {
        let (code, hasEnded) = send(url, over: transport)
        transport.close()
        _exit(hasEnded && code == .closed ? 0 : 1)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    exit(status == 0 ? 0 : 1)
}

/// Makes an error of OpenSSL, loads libcurl on the same thread, and looks for the error.
func loadBesideOpenSSL() {
    guard let library = dlopen("libcrypto.so.3", RTLD_NOW) else { exit(0) }
    guard let read = dlsym(library, "d2i_X509"), let peek = dlsym(library, "ERR_peek_error") else { exit(66) }
    typealias Read = @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    typealias Peek = @convention(c) () -> UInt
    let bytes: [UInt8] = [1, 2, 3]
    bytes.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        _ = unsafeBitCast(read, to: Read.self)(nil, &start, buffer.count)
    }
    let error = unsafeBitCast(peek, to: Peek.self)()
    guard error != 0, CurlTransport.isAvailable else { exit(65) }
    exit(unsafeBitCast(peek, to: Peek.self)() == error ? 0 : 1)
}

/// Sends a request, sets the proxy of the environment, and sends another; the arguments are the ports of the proxy and
/// of a server.
func changeTheEnvironment(_ arguments: [String]) {
    guard arguments.count == 2 else { exit(64) }
    for name in ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(name) }
    let transport = CurlTransport()
    guard send(url(arguments[1]), over: transport).code == nil else { exit(65) }
    setenv("http_proxy", url(arguments[0]).absoluteString, 1)
    let (code, hasEnded) = send(url(arguments[1]), over: transport)
    exit(hasEnded && code == nil ? 0 : 1)
}
#endif
