// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A working transport that breaks one rule on purpose.
final class BrokenTransport: HTTPTransport {
    /// The broken rule.
    enum Fault: String, CaseIterable, Sendable {
        case twoEnds, noEnd, contentAfterEnd, contentBeforeHead, twoHeads, noHead
        case overlapping, followsRedirects, ignoresCancel, changesCancel, loosesContent, keepsCookies, blocks, retries
        case claimsPausing, timesOutInPause, sendsAfterCancel, namesTheProxy, timesOutInTurn
    }

    private let fault: Fault
    private let base: any HTTPTransport
    private let cookie = Locked<String?>(nil)

    init(_ fault: Fault, base: any HTTPTransport = HTTPClient.defaultTransport) {
        self.fault = fault
        self.base = base
    }

    var capabilities: TransportCapabilities { base.capabilities.union(fault == .claimsPausing ? .pausing : []) }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        var request = request
        if fault == .keepsCookies, let cookie = cookie.withLock({ $0 }) { request.headers[.cookie] = cookie }
        if fault == .blocks, request.url.path == "/stalled" {
            Thread.sleep(forTimeInterval: 0.6)
        }
        if fault == .namesTheProxy, request.headers.contains(.proxyAuthorization) {
            request.headers["X-Proxy-Authorization"] = "Basic YTpi"
        }
        let original = request
        let transfer = base.send(request) { [self] event in
            forward(event, of: original, to: receive)
        }
        return Handle(transfer, fault, timeout: request.timeout)
    }

    private func forward(
        _ event: TransferEvent,
        of request: TransportRequest,
        to receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        switch (fault, event) {
        case (.twoEnds, .end): [event, event].forEach(receive)
        case (.noEnd, .end): break
        case (.contentAfterEnd, .end): [event, .data(Data("late".utf8))].forEach(receive)
        case (.contentBeforeHead, .head): [.data(Data("early".utf8)), event].forEach(receive)
        case (.twoHeads, .head): [event, event].forEach(receive)
        case (.noHead, .head): break
        case (.overlapping, .head):
            // Each thread continues until it has met the other twenty times, so that they overlap on any number of
            // processors; a queue might run one after the other.
            let group = DispatchGroup()
            let counts = Locked([0, 0])
            for number in 0..<2 {
                group.enter()
                Thread.detachNewThread {
                    var (met, last) = (0, 0)
                    while met < 20 {
                        receive(.sent(0, of: nil))
                        let other = counts.withLock { counts in
                            counts[number] += 1
                            return counts[1 - number]
                        }
                        if other == .max { break }
                        if other != last { (met, last) = (met + 1, other) }
                    }
                    counts.withLock { $0[number] = .max }
                    group.leave()
                }
            }
            group.wait()
            receive(event)
        case (.followsRedirects, .head(let head)) where head[.location]?.hasPrefix("/") == true:
            var next = request
            next.url = URL(string: head[.location] ?? "", relativeTo: request.url)?.absoluteURL ?? request.url
            _ = base.send(next, receive: receive)
        case (.followsRedirects, .end), (.followsRedirects, .data):
            receive(event)
        case (.changesCancel, .end(let error)) where error?.code == .cancelled:
            receive(.end(RequestError(.connectionLost, phase: .receiving)))
        case (.loosesContent, .data(let data)): receive(.data(data.dropLast()))
        case (.keepsCookies, .head(let head)):
            if let new = head[.setCookie] { cookie.withLock { $0 = String(new.prefix { $0 != ";" }) } }
            receive(event)
        case (.timesOutInPause, .end(let error)) where error?.code == .cancelled:
            receive(.end(RequestError(.timedOut, phase: .receiving)))
        case (.sendsAfterCancel, .end) where request.url.path == "/cancelled":
            receive(event)
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { [base] in _ = base.send(request) { _ in } }
        case (.timesOutInTurn, .end) where request.url.path == "/7":
            DispatchQueue.global().asyncAfter(deadline: .now() + 1.2) { receive(event) }
        case (.retries, .end(let error)) where error != nil: _ = base.send(request, receive: receive)
        default: receive(event)
        }
    }

    private final class Handle: TransferHandle {
        private let base: any TransferHandle
        private let fault: Fault

        private let timeout: Duration?

        init(_ base: any TransferHandle, _ fault: Fault, timeout: Duration?) {
            (self.base, self.fault, self.timeout) = (base, fault, timeout)
        }

        deinit { base.cancel() }

        func cancel() {
            if fault != .ignoresCancel { base.cancel() }
        }

        func pause() {
            if fault != .claimsPausing { base.pause() }
            guard fault == .timesOutInPause, let timeout else { return }
            let late = DispatchTime.now() + timeout / .seconds(1)
            DispatchQueue.global().asyncAfter(deadline: late) { [base] in base.cancel() }
        }

        func resume() { base.resume() }
    }
}
