// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A transport that observes another: it signals the first content, and records the names of all events.
final class Tap: HTTPTransport {
    /// Opens with the head, or with the end.
    let head = Gate()
    /// Opens with the first content, or with the end.
    let content = Gate()
    /// Opens when content has been sent, or with the end.
    let upload = Gate()
    private let base: any HTTPTransport
    private let log = Locked<[String]>([])

    init(_ transport: TransportUnderTest) {
        base = transport.makeSession() ?? HTTPClient.defaultTransport
    }

    /// The events so far, except for those of sending, which come at any time.
    var events: [String] { log.withLock { $0 } }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        base.send(request) { [self] event in
            if let name = event.name { log.withLock { $0.append(name) } }
            receive(event)
            switch event {
            case .head: head.open()
            case .data: content.open()
            case .sent: upload.open()
            // A test that waits for more fails, rather than hangs.
            case .end: for gate in [head, content, upload] { gate.open() }
            default: break
            }
        }
    }
}

extension TransferEvent {
    fileprivate var name: String? {
        switch self {
        case .informational(let head): "informational \(head.status.code)"
        case .sent, .trailers, .metrics: nil
        case .head(let head): "head \(head.status.code)"
        case .data: "data"
        case .end(let error): error.map { "end \($0.code)" } ?? "end"
        }
    }
}
