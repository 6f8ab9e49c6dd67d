// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Content that is meant to crash its reader: it fails quickly with an error.
    @Suite(.bounded) struct HostileContentTests {
        /// A type that is nested as deeply as the content.
        indirect enum Tree: Decodable, Sendable {
            case leaf
            case branch([Tree])
            case members([String: Tree])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let children = try? container.decode([Tree].self) {
                    self = .branch(children)
                } else if let members = try? container.decode([String: Tree].self) {
                    self = .members(members)
                } else {
                    self = .leaf
                }
            }
        }

        static let nested: [String] = [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")].flatMap { open, close in
            [
                String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000),
                String(repeating: open, count: 100_000),
            ]
        }

        @Test(arguments: nested.indices)
        func deepNestingFailsDecoding(index: Int) async throws {
            let content = Self.nested[index]
            let server = try MockServer { _ in .json(content) }
            let client = HTTPClient(baseURL: server.url, transport: HTTPClient.defaultTransport)

            func code<Value>(of request: Get<Value>) async -> RequestError.Code? {
                do throws(RequestError) {
                    _ = try await client.fetch(request)
                    return nil
                } catch {
                    #expect(error.description.utf8.count < 1_000)
                    return error.code
                }
            }

            #expect(await code(of: Get<JSONValue>("a")) == .decoding)
            #expect(await code(of: Get<Tree>("a")) == .decoding)
            #expect(await code(of: Get<[[[Int]]]>("a")) == .decoding)
            #expect(await code(of: Get<[String: Int]>("a")) == .decoding)
            #expect(await code(of: Get<[Int]>("a", decoding: .json(atKeyPath: "a.a.a"))) == .decoding)
        }

        @Test(arguments: [
            "1e400", "-1e400", "1" + String(repeating: "0", count: 100_000), "\"\\ud800\"", "\"\\", "[1", "\"a", "nul",
            "\0",
            "{\"a\":1,\"a\":2", "[1,]", "\u{FEFF}[", String(repeating: "\"", count: 99_999),
            "[\(String(repeating: "-", count: 99_999))",
        ])
        func invalidJSONFailsDecoding(_ content: String) async throws {
            let server = try MockServer { _ in .json(content) }
            let client = HTTPClient(baseURL: server.url, transport: HTTPClient.defaultTransport)

            do throws(RequestError) {
                _ = try await client.fetch(Get<JSONValue>("a"))
            } catch {
                #expect(error.code == .decoding)
            }
        }
    }
}
