// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A request for the content of an address.
struct Fetch: DataRequest {
    typealias Success = Data
    let url: URL
    /// The timeout in seconds.
    var timeout: TimeInterval = 60
    var identifier: String { url.absoluteString }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: url, timeoutInterval: timeout)))
    }
}

/// The causes of the end of the process.
enum Ending: String {
    /// The main thread calls `exit`.
    case exit
    /// The end of `main`.
    case main
    /// A signal handler, on any thread that gets the signal.
    case signal
    /// The thread on which a response is delivered.
    case receiver
    /// The main thread, after it has started another process.
    case spawn
    /// The main thread calls `exit`; other code was OpenSSL's first user, and has registered its clean-up.
    case cleanup
    /// The main thread calls `exit`, a handler of which sends a request and waits for its end.
    case handler
    /// The main thread calls `exit`, a handler of which waits for a request that was sent long before, over a connection
    /// on which nothing happens.
    case waiting
}

/// The address that the handler requests.
private let lastWords = Locked<URL?>(nil)

/// Runs the request that the handler waits for.
private let longWait = OperationQueue()

/// Ends the process while handshakes are under way; the arguments are the cause and the number of milliseconds before.
///
/// - Returns: Whether the arguments are valid.
func endDuringHandshakes(_ arguments: [String]) async throws -> Bool {
    guard arguments.count == 2, let ending = Ending(rawValue: arguments[0]), let milliseconds = UInt32(arguments[1])
    else {
        print(
            "usage: RequestsTransportProbe end exit|main|signal|receiver|spawn|cleanup|handler|waiting <milliseconds>"
        )
        return false
    }

    // It answers a handshake with an error in plain text, so each connection is followed by another.
    let server = try MockServer { _ in .text("hello") }
    let plain = server.url
    guard let secure = URL(string: "https://127.0.0.1:\(server.port)/") else { exit(65) }

    switch ending {
    case .cleanup:
        // Without another OpenSSL, this is like `exit`.
        guard let library = dlopen("libcrypto.so.3", RTLD_NOW), let symbol = dlsym(library, "OPENSSL_init_crypto")
        else {
            break
        }
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> Int32
        _ = unsafeBitCast(symbol, to: Initialize.self)(0, nil)
    case .handler:
        lastWords.withLock { $0 = plain }
        atexit {
            guard let url = lastWords.withLock({ $0 }) else { return }
            let queue = OperationQueue()
            queue.addRequest(Fetch(url: url))
            queue.waitUntilAllOperationsAreFinished()
        }
    case .waiting:
        atexit { longWait.waitUntilAllOperationsAreFinished() }
        let silent = try MockServer { _ in .never }
        longWait.addRequest(Fetch(url: silent.url))
        try await silent.awaitRequest()
        usleep(milliseconds * 1000)
        exit(0)
    default: break
    }

    for _ in 0..<12 {
        Task.detached {
            let queue = OperationQueue()
            while true { _ = try? await queue.fetch(Fetch(url: secure)) }
        }
    }

    signal(SIGTERM) { _ in exit(0) }
    // The thread that started this process may have blocked its signals, which is inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    usleep(milliseconds * 1000)

    switch ending {
    case .exit, .cleanup, .handler, .waiting: exit(0)
    case .main: return true
    case .spawn:
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/bin/true")
        try other.run()
        other.waitUntilExit()
        exit(other.terminationStatus)
    case .signal:
        kill(getpid(), SIGTERM)
        while true { pause() }
    case .receiver:
        OperationQueue().addRequest(Fetch(url: plain), completionQueue: .global()) { _ in exit(0) }
        while true { pause() }
    }
}
