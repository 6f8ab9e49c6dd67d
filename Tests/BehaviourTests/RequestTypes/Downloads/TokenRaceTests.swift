// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Whenever a download is cancelled, its token is for the bytes in the file.
@Suite(.bounded) struct TokenRaceTests {
    @Test(arguments: [false, true]) func cancellationRacesNewFileVersion(automatically: Bool) async throws {
        let trial = DownloadTrial()
        for round in 0..<Scale.races {
            let given = try await trial.token()
            let transport = ManualTransport()
            let download = Download(HTTPRequest(url: DownloadTrial.url), to: .file(trial.target, overwrite: true))
                .resuming(from: given).resumingAutomatically(automatically)
            let operation = HTTPClient(transport: transport).addRequest(download)
            let transfer = try await transport.awaitTransfer()
            #expect(transfer.request.headers[.range] == "bytes=400-")

            simultaneously {
                let headers: HTTPHeaders = [.eTag: "\"b\"", .contentLength: "1000"]
                transfer.receive(.head(HTTPResponseHead(status: .ok, headers: headers)))
                transfer.receive(.data(Data(repeating: UInt8(ascii: "b"), count: 500)))
            } and: {
                operation.cancel()
            }
            transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
            let token = await withCheckedContinuation { continuation in
                operation.cancel(producingResumeToken: { continuation.resume(returning: $0) })
            }

            // The token says which version it has, and so does the file.
            let outcome = try await trial.run(token: token, automatically: automatically)
            let asked = try #require(outcome.asked.first)
            switch token?.receivedLength {
            case 0: #expect(asked == "" && outcome.file == "1000c", "round \(round)")
            case 400: #expect(asked == "bytes=400- \"a\"" && outcome.file == "400a 600c", "round \(round)")
            case 500: #expect(asked == "bytes=500- \"b\"" && outcome.file == "500b 500c", "round \(round)")
            case let length: Issue.record("\(length ?? -1) bytes in round \(round)")
            }
        }
        try await eventually { try trial.folder.names() == ["film.mov"] }
    }
}
