// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The exact bytes on the wire.
    @Suite(.bounded) struct WireTests {
        @Test(arguments: TransportUnderTest.all)
        func headerValuesAreSentUnchanged(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let headers: HTTPHeaders = [
                "X-Plain": "a b", "X-Quoted": #""a,b"; c=d\e"#, "X-Text": "gr\u{FC}\u{DF}e", "X-Percent": "%0d%0a",
            ]

            _ = try await transport.send(Call(server.url("/p?q=1"), headers: headers))

            let lines = lines(of: try #require(server.requests.first))
            #expect(lines.first == "GET /p?q=1 HTTP/1.1")
            #expect(lines.filter { $0.hasPrefix("Host:") } == ["Host: 127.0.0.1:\(server.port)"])
            for field in headers {
                #expect(lines.filter { $0.hasPrefix("\(field.name):") } == ["\(field.name): \(field.value)"])
            }
            #expect(lines.suffix(2) == ["", ""])
        }

        @Test(arguments: TransportUnderTest.all)
        func repeatedFieldsAreAllSent(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .status(.ok, headers: ["X-A": "1", "X-A": "2", "X-B": "3"]) }

            let response = try await transport.send(Call(server.url, headers: ["X-A": "1", "X-A": "2"]))

            // One field with two values is equivalent to two fields with one value each (RFC 9110, 5.2).
            #expect(server.requests.first?.headers["X-A"] == "1, 2")
            #expect(response.headers["X-A"] == "1, 2")
            #expect(response.headers["x-b"] == "3")
        }

        @Test(arguments: TransportUnderTest.all)
        func bodylessRequestSendsAtMostZeroLength(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }

            for method in [HTTPMethod.get, .head, .delete, .options, .post, .put] {
                _ = try await transport.send(Call(server.url, method: method))
            }

            try #require(server.requests.count == 6)
            for request in server.requests {
                #expect(!request.headers.contains(.transferEncoding))
                #expect([[], ["0"]].contains(request.headers[values: .contentLength]))
                #expect(!request.headers.contains(.expect))
            }
            // RFC 9110, 8.6: no length is sent with a method that defines no meaning for content.
            #expect(server.requests[0].headers[.contentLength] == nil)
        }

        @Test(arguments: TransportUnderTest.all)
        func urlCredentialsBecomeHeader(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let url = try #require(URL(string: "http://us%40er:pass%3Aword@127.0.0.1:\(server.port)/path"))

            _ = try await transport.send(Call(url))

            let request = try #require(server.requests.first)
            let expected = "Basic " + Data("us@er:pass:word".utf8).base64EncodedString()
            #expect(request.headers[values: .authorization] == [expected])
            #expect(lines(of: request).first == "GET /path HTTP/1.1")
            #expect(request.headers[.host] == "127.0.0.1:\(server.port)")
        }

        @Test(
            arguments: TransportUnderTest.all,
            [
                Call.invalid("method") { $0.method = "GET /x HTTP/1.1\r\nX-M: y" },
                Call.invalid("header name") { $0.headers = ["X-B\r\nX-Injected": "yes"] },
                Call.invalid("header value") { $0.headers = ["X-A": "v\r\nX-Injected: yes"] },
                Call.invalid("framing") { $0.headers = ["Transfer-Encoding": "chunked"] },
                Call.invalid("length") { $0.headers = ["Content-Length": "5"] },
            ]
        )
        func invalidHeadIsNeverSent(_ transport: TransportUnderTest, _ change: Call.Change) async throws {
            let server = try MockServer { _ in .noContent }
            var call = Call(server.url)
            change.apply(&call.http)

            let run = await transport.run(call)

            #expect(run.error?.code == .invalidRequest)
            #expect(server.connectionCount == 0)
        }

        private func lines(of request: ReceivedRequest) -> [String] {
            String(decoding: request.rawBytes, as: UTF8.self).components(separatedBy: "\r\n")
        }
    }
}

extension Call {
    /// A change of a request, named by the part that it changes.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout HTTPRequest) -> Void
    }

    fileprivate static func invalid(
        _ name: String,
        _ apply: @escaping @Sendable (inout HTTPRequest) -> Void
    ) -> Change {
        Change(testDescription: name, apply: apply)
    }
}
