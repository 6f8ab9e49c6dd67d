// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Bodies whose length isn't known, also in the way that Foundation says so: with -1.
    @Suite(.bounded) struct UnknownLengthTests {
        @Test(arguments: TransportUnderTest.all, [nil, NSURLSessionTransferSizeUnknown, -5, .min])
        func streamIsSentCompletely(_ transport: TransportUnderTest, _ length: Int64?) async throws {
            let server = try MockServer { _ in .noContent }
            let content = Data.pattern(100_000)
            let streams = [
                HTTPBody.Stream(length: length) { InputStream(data: content) },
                HTTPBody.Stream(InputStream(data: content), length: length),
            ]

            for stream in streams {
                _ = try await transport.send(Call(server.url, method: .post, body: .stream(stream)))
            }

            #expect(server.requests.map(\.body) == [content, content])
            #expect(server.requests.allSatisfy { $0.headers[.transferEncoding] == "chunked" })
        }
    }
}
