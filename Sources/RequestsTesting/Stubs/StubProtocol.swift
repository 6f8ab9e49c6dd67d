// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Hands the requests of a session to its stubber, and the answers to the session.
///
/// The class itself is that of ``HTTPStubber/shared``; each other stubber has an ``InstalledStubProtocol``.
class StubProtocol: URLProtocol {
    private var delivery: StubDelivery?
    private var transfer: StubTransfer?

    /// Whether the class was put in a session's configuration, rather than registered for all.
    class var isInstalled: Bool { false }

    override class func canInit(with request: URLRequest) -> Bool {
        guard let scheme = request.url?.scheme?.lowercased(), ["http", "https"].contains(scheme) else { return false }
        return isInstalled || HTTPStubber.isEnabled
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Starts the transfer; on Linux, where this is called again after each time that the task was suspended, goes on.
    override func startLoading() {
        guard delivery == nil else { return deliver() }
        let delivery = StubDelivery()
        self.delivery = delivery
        #if canImport(ObjectiveC)
        delivery.receiver = self
        #endif
        do {
            try refuseDownload()
            let stubbed = try session.request(request)
            transfer = try stubber().start(stubbed, isBodyHidden: isBodyHidden) { [weak task] event in
                delivery.add(event, of: task)
            }
        } catch {
            tell(.end(RequestError(error)))
        }
    }

    override func stopLoading() {
        #if !canImport(ObjectiveC)
        // Suspended: the transfer goes on, and is told of when the task is resumed.
        guard task?.state == .canceling else { return }
        #endif
        end()
        transfer?.cancel()
    }

    /// Tells the client what has come, where Foundation wants it told.
    func deliver() {
        for event in delivery?.take() ?? [] { tell(event) }
    }

    private func end() {
        delivery?.stop()
        #if canImport(ObjectiveC)
        delivery?.receiver = nil
        #endif
    }

    private var entry: StubberRegistry.Entry? { StubberRegistry.entry(of: Self.self) }
    private var session: StubbedSession { entry?.session ?? .shared }

    private func stubber() throws(RequestError) -> HTTPStubber {
        guard Self.isInstalled else { return .shared }
        guard let stubber = entry?.stubber else {
            let reason = "the stubber that was installed in the session's configuration is gone"
            throw RequestError(.closed, phase: .sending, reason: reason)
        }
        return stubber
    }

    /// On Linux the end of a download task that a protocol answers is a crash, for want of a file that only the
    /// session's own protocols can name.
    private func refuseDownload() throws(RequestError) {
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

    private func tell(_ event: TransferEvent) {
        switch event {
        case .informational, .sent, .metrics:
            break
        case .head(let head):
            guard let response = head.forProtocols.urlResponse else { return }
            session.keepCookies(of: head, to: request)
            #if canImport(ObjectiveC)
            if let redirected = request.redirected(by: head) {
                client?.urlProtocol(self, wasRedirectedTo: redirected, redirectResponse: response)
            }
            // The delegate may have cancelled the task meanwhile, or else refuses the redirect and wants the response.
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
            // A cancel that comes too late would have the client fail a task that the session may have forgotten
            // already, which ends the process.
            client = nil
            #endif
        }
    }
}

extension HTTPResponseHead {
    /// The head as a session can stand it: on Linux it never completes a task whose 401 has a challenge that it knows,
    /// and may end the process for one that it doesn't.
    fileprivate var forProtocols: HTTPResponseHead {
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
