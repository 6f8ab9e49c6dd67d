// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of request bodies and their framing.
    static let bodies: [Check] = [
        Check("a request without a body has no framing", .exact) { trial in
            for method in [HTTPMethod.get, .head, .delete, .options, .post, .put] {
                trial.server.route(method, "/none", .noContent)
                trial.expectResponse(try await trial.send("/none", method), .noContent, "\(method)")
                guard let request = trial.server.requests.last else { continue }
                let framing = request.framing
                // If the method doesn't anticipate content, a request without content has no Content-Length (RFC 9110,
                // 8.6).
                let allowed = [.get, .head].contains(method) ? [[]] : [[], ["0"]]
                trial.expect(allowed.contains(framing), "\(method) was sent with the framing \(framing)")
            }
        },
        echoCheck("bytes are sent with their length", .data(abc), abc, [["3"]], by: .post, .put, .patch, .delete),
        echoCheck("an empty body is sent with the length 0", .data(Data()), Data(), [["0"]], by: .post),
        echoCheck("a body of one megabyte is sent completely", .data(.pattern), .pattern, [["\(1 << 20)"]], by: .put),
        Check("a file is sent with its length", .exact, needs: .server) { trial in
            for count in [0, 1, 300_000] {
                let content = Data.pattern.prefix(count)
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try content.write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                try await trial.expectEcho(.file(file), content, [["\(count)"]], .put)
            }
        },
        Check("a missing file is an error before anything is sent", .exact, needs: .server) { trial in
            let folder = FileManager.default.temporaryDirectory
            for file in [folder.appendingPathComponent(UUID().uuidString), folder] {
                trial.expectError(try await trial.send("/echo", .put, body: .file(file)), .invalidRequest)
            }
            trial.expect(trial.server.requests.isEmpty, "a request was sent")
        },
        echoCheck(
            "a stream of unknown length is sent in chunks",
            .stream(stream(.pattern)),
            .pattern,
            [["chunked"]],
            by: .post
        ),
        Check("a stream of known length is sent with a single framing", .capabilities, needs: .server) { trial in
            let isSized = trial.transport.capabilities.contains(.sizedStreams)
            let framing = isSized ? "\(1 << 20)" : "chunked"
            try await trial.expectEcho(.stream(stream(.pattern, length: 1 << 20)), .pattern, [[framing]], .post)
        },
        echoCheck(
            "an empty stream is sent as an empty body",
            .stream(stream(Data())),
            Data(),
            [["chunked"], ["0"], []],
            by: .post
        ),
        Check("a consumed stream is an error, not an empty body", .exact, needs: .server) { trial in
            let body = HTTPBody.stream(HTTPBody.Stream(InputStream(data: abc)))
            trial.expectResponse(try await trial.send("/echo", .post, body: body), content: "abc")
            trial.expectError(try await trial.send("/echo", .post, body: body), .bodyNotReplayable)
            guard !trial.usesExternalServer else { return }
            let seen = trial.server.requests.map(\.text)
            trial.expect(seen == ["abc"], "the server received \(seen)")
        },
        Check("a stream that ends early is an error", .complete, needs: .server, with: .sizedStreams) { trial in
            // Without `.sizedStreams`, a stream is sent chunked, so it has no Content-Length that it could fall short
            // of.
            let short = HTTPBody.stream(stream(Data(count: 10), length: 1000))
            trial.expectError(try await trial.send("/echo", .post, body: short))
            try await trial.expectStillWorking(after: "a stream that ended early")
        },
        Check("a GET with a body is sent or rejected", .capabilities, needs: .server) { trial in
            guard trial.transport.capabilities.contains(.bodyWithAnyMethod) else {
                let log = try await trial.send("/echo", .get, body: .data(abc))
                trial.expectError(log, .unsupported)
                trial.expect(trial.server.connectionCount == 0, "a request was sent")
                return
            }
            try await trial.expectEcho(.data(abc), abc, [["3"]], .get)
        },
        Check("an early rejection of an upload is a response or an error", .complete) { trial in
            trial.server.route(.post, "/upload", .text("too much", status: .contentTooLarge).early)
            let log = try await trial.send("/upload", .post, body: .data(Data(count: 1 << 20)))
            // The response races with the closing of the connection, so either may arrive first.
            if log.error == nil { trial.expectResponse(log, .contentTooLarge, content: "too much") }
            try await trial.expectStillWorking(after: "a refusal")
        },
    ]
}

extension TransportConformance {
    /// Creates a check that, for each method, the server receives a body with one of the framings, and echoes it.
    private static func echoCheck(
        _ name: String,
        _ body: HTTPBody,
        _ content: Data,
        _ framings: [[String]],
        by methods: HTTPMethod...
    ) -> Check {
        Check(name, .exact, needs: .server) { trial in
            for method in methods { try await trial.expectEcho(body, content, framings, method) }
        }
    }

    private static func stream(_ content: Data, length: Int64? = nil) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) { InputStream(data: content) }
    }

    private static let abc = Data("abc".utf8)
}

extension ConformanceTrial {
    /// Sends a body for the server to echo, and expects that the server received it with one of these framings.
    fileprivate func expectEcho(
        _ body: HTTPBody,
        _ content: Data,
        _ framings: [[String]],
        _ method: HTTPMethod
    ) async throws {
        let log = try await send("/echo", method, headers: [.contentType: "text/plain"], body: body)
        expectResponse(log, .ok, "\(method)")
        expect(log.content == content, "the echoed content differs (\(log.content.count) of \(content.count) bytes)")
        // Only the built-in server reports the framing.
        guard !usesExternalServer else { return }
        guard let request = server.requests.last else { return recordProblem("no request was sent") }
        expect(request.method == method, "\(method) was sent as \(request.method)")
        expect(framings.contains(request.framing), "\(method) was sent with the framing \(request.framing)")
        let types = request.headers[values: .contentType]
        expect(types == ["text/plain"], "the content type was sent as \(types)")
        expect(!request.headers.contains(.expect), "an Expect field delayed the content")
    }
}

extension ReceivedRequest {
    /// The fields that define where the content ends.
    ///
    /// If there are two, servers may disagree about where the next request starts (request smuggling).
    fileprivate var framing: [String] { headers[values: .contentLength] + headers[values: .transferEncoding] }
}

extension Data {
    /// A megabyte of content whose pattern differs at every position.
    fileprivate static let pattern = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
}
