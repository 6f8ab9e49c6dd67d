// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// An output in which people read what was sent and received.
enum SecretDoor: String, CaseIterable, Sendable {
    case console, archive, command, description

    /// Sends a request to a server that echoes its fields and content, and returns what each output shows.
    ///
    /// The content of an archive is decoded, since base64 hides nothing.
    static func texts(of request: HTTPRequest, status: HTTPStatus = .ok) async throws -> [SecretDoor: [String]] {
        let lines = Recorder<String>()
        let timeline = RecordingMonitor()
        let transport = InMemoryTransport { request in
            .status(status, headers: request.headers.without(.contentLength), body: request.body)
        }
        let recorder = ExchangeRecorder(transport)
        let client = HTTPClient(transport: recorder) {
            $0.monitors = [timeline, ConsoleMonitor(.bodies, showsCURL: true) { lines.record($0) }]
        }
        var descriptions: [Any] = [request, request.headers, request.body]
        do { descriptions.append(try await client.send(request)) } catch { descriptions += [error, error.body as Any] }
        let archive = recorder.archive.data()
        let contents = try HTTPArchive(data: archive).exchanges.flatMap { exchange in
            [exchange.request.body, exchange.response?.body ?? Data()].map { String(decoding: $0, as: UTF8.self) }
        }
        return [
            .console: lines.elements,
            .archive: [archive, timeline.timeline.har()].map { String(decoding: $0, as: UTF8.self) } + contents,
            .command: [try request.cURL()],
            .description: descriptions.flatMap { value in
                var dumped = ""
                dump(value, to: &dumped)
                return ["\(value)", String(reflecting: value), dumped]
            },
        ]
    }
}

extension HTTPHeaders {
    fileprivate func without(_ name: HTTPField.Name) -> HTTPHeaders {
        var headers = self
        headers[name] = nil
        return headers
    }
}
