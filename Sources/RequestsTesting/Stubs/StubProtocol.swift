// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Passes the requests of a session to its stubber, and the responses back to the session.
///
/// The class itself belongs to ``HTTPStubber/shared``; every other stubber has an ``InstalledStubProtocol``.
class StubProtocol: URLProtocol {
    private var delivery: StubDelivery?
    private var transfer: StubTransfer?

    /// Whether the class was added to a session's configuration, rather than registered for all sessions.
    class var isInstalled: Bool { false }

    override class func canInit(with request: URLRequest) -> Bool {
        guard let scheme = request.url?.scheme?.lowercased(), ["http", "https"].contains(scheme) else { return false }
        return isInstalled || HTTPStubber.isEnabled
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Starts the transfer, or, if a task on Linux is resumed after a suspension, delivers its events.
    override func startLoading() {
        guard delivery == nil else { return deliver() }
        let delivery = StubDelivery()
        self.delivery = delivery
        #if canImport(ObjectiveC)
        delivery.receiver = self
        #endif
        do {
            try rejectDownload()
            let stubbed = try session.request(request)
            transfer = try stubber().start(stubbed, isBodyHidden: isBodyHidden) { [weak task] event in
                delivery.add(event, of: task)
            }
        } catch {
            notifyClient(of: .end(RequestError(error)))
        }
    }

    override func stopLoading() {
        #if !canImport(ObjectiveC)
        // The task was only suspended. The transfer continues, and its events are delivered when the task is resumed.
        guard task?.state == .canceling else { return }
        #endif
        end()
        transfer?.cancel()
    }

    /// Passes the due events to the client; must be called on the thread or queue that Foundation requires.
    func deliver() {
        for event in delivery?.takeDueEvents() ?? [] { notifyClient(of: event) }
    }

    private func end() {
        delivery?.stop()
        #if canImport(ObjectiveC)
        delivery?.receiver = nil
        #endif
    }

    private var entry: StubberRegistry.Entry? { StubberRegistry.entry(of: Self.self) }
    private var session: StubbedSessionSettings { entry?.session ?? .shared }

    private func stubber() throws(RequestError) -> HTTPStubber {
        guard Self.isInstalled else { return .shared }
        guard let stubber = entry?.stubber else {
            let reason = "the stubber that was installed in the session's configuration was deallocated"
            throw RequestError(.closed, phase: .sending, reason: reason)
        }
        return stubber
    }

    /// Throws an error for a download task on Linux, which would crash on completion.
    ///
    /// On completion, Foundation expects a file that only its built-in protocol classes can provide.
    private func rejectDownload() throws(RequestError) {
        #if canImport(FoundationNetworking)
        guard task is URLSessionDownloadTask else { return }
        throw RequestError(.unsupported, phase: .sending, reason: "a download task can't be stubbed on this platform")
        #endif
    }

    private var isBodyHidden: Bool {
        #if canImport(FoundationNetworking)
        task is URLSessionUploadTask && request.httpBody == nil && request.httpBodyStream == nil
        #else
        false
        #endif
    }

    private func notifyClient(of event: TransferEvent) {
        switch event {
        case .informational, .sent, .trailers, .metrics:
            break
        case .head(let head):
            guard let response = head.sanitizedForSession.urlResponse else { return }
            session.storeCookies(of: head, to: request)
            #if canImport(ObjectiveC)
            if let redirected = request.redirected(by: head) {
                client?.urlProtocol(self, wasRedirectedTo: redirected, redirectResponse: response)
            }
            // The delegate may have cancelled the task. If not, the delegate rejected the redirect, and expects the
            // response.
            guard delivery?.receiver != nil else { return }
            #endif
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        case .data(let data):
            client?.urlProtocol(self, didLoad: data)
        case .end(let error):
            end()
            if let error {
                client?.urlProtocol(self, didFailWithError: URLError(error, at: request.url))
            } else {
                client?.urlProtocolDidFinishLoading(self)
            }
            #if !canImport(ObjectiveC)
            // Release the client. Otherwise, a later cancellation would report an error for a task that the session may
            // already have removed, which would crash the process.
            client = nil
            #endif
        }
    }
}

extension HTTPResponseHead {
    /// The head in a form that the session can process.
    ///
    /// On Linux, a session never completes a task that gets a 401 with a supported challenge, and may crash the process
    /// if the challenge is unsupported.
    fileprivate var sanitizedForSession: HTTPResponseHead {
        #if canImport(FoundationNetworking)
        guard status == .unauthorized, self[.wwwAuthenticate] != nil else { return self }
        var headers = headers
        headers.remove(.wwwAuthenticate)
        return HTTPResponseHead(status: status, headers: headers, url: url)
        #else
        return self
        #endif
    }
}

/// The protocol class of one session configuration with a stubber.
///
/// A session passes only the request to its protocol class, which therefore can't identify the session. So each
/// configuration with a stubber needs a separate class.
///
/// Classes can't be created at run time, but specializations of generic classes can. The type parameter encodes a
/// number, with one type per bit. The classes exist until the process ends.
final class InstalledStubProtocol<Number>: StubProtocol {
    override class var isInstalled: Bool { true }
}

/// The type that encodes zero bits.
private enum NoBits {}
private enum Zero<Rest> {}
private enum One<Rest> {}

extension StubProtocol {
    /// Returns the class for a number; equal numbers return the same class.
    static func subclass(_ number: Int) -> StubProtocol.Type {
        adding(UInt(bitPattern: number), to: NoBits.self)
    }

    private static func adding<Number>(_ bits: UInt, to _: Number.Type) -> StubProtocol.Type {
        if bits == 0 { return InstalledStubProtocol<Number>.self }
        return bits & 1 == 0 ? adding(bits >> 1, to: Zero<Number>.self) : adding(bits >> 1, to: One<Number>.self)
    }
}

// MARK: - Redirecting

#if canImport(ObjectiveC)
extension URLRequest {
    /// Returns the request that follows a redirect (RFC 9110, 15.4); `nil` if the response isn't a redirect.
    func redirected(by head: HTTPResponseHead) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code), let location = head[.location],
            let target = URL(lenient: location, relativeTo: url)
        else { return nil }
        var result = self
        result.url = target.absoluteURL
        let isPost = httpMethod == "POST" && [301, 302].contains(head.status.code)
        if isPost || (head.status.code == 303 && httpMethod != "HEAD") {
            result.httpMethod = "GET"
            result.httpBody = nil
            result.httpBodyStream = nil
        }
        return result
    }
}
#endif

// MARK: - Errors

extension URLError {
    /// Converts a stub's error into the error that a session would report; a `URLError` is used as is.
    init(_ error: RequestError, at url: URL?) {
        if let urlError = error.underlying as? URLError {
            self = urlError
            return
        }
        let explanation = (error.underlying as? any ExplainedError)?.explanation
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: explanation ?? error.reason ?? error.description
        ]
        if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
        self.init(Self.code(of: error), userInfo: userInfo)
    }

    private static func code(of error: RequestError) -> URLError.Code {
        switch error.code {
        case .cancelled: .cancelled
        case .timedOut, .deadlineExceeded: .timedOut
        case .offline: .notConnectedToInternet
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .badResponse: .cannotParseResponse
        case .untrusted: .secureConnectionFailed
        case .unsupported, .notStubbed: .cannotLoadFromNetwork
        default: .unknown
        }
    }
}
