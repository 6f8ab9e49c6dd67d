// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct BodyEncoderTests {
    struct Pancake: Codable, Equatable, Sendable {
        var name: String
        var eggs: Int
    }

    /// Responds with the sent content.
    private let echo = InMemoryTransport { request in
        .status(.ok, headers: [.contentType: request.headers[.contentType] ?? "-"], body: request.body)
    }

    @Test func propertyListRoundTrips() async throws {
        let pancake = Pancake(name: "P", eggs: 2)
        let request = Post<Pancake>("p", decoding: .propertyList).body(.propertyList(pancake))
        let queue = TestQueue(echo) { $0.baseURL = server }

        let response = try await queue.send(request)

        #expect(response.body == pancake && response.headers[.contentType] == "application/x-plist")
        #expect(echo.requests.first?.headers[.accept] == "application/x-plist")
    }

    struct Plist: DecodableRequest {
        typealias Success = Pancake
        typealias Failure = RequestError
        let content: HTTPBody
        let decoder = PropertyListDecoder()
        var keyPath: String { "data.1" }
        var identifier: String { "plist" }

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(Result { try HTTPRequest(url: home, method: .post, body: content).toURLRequest() })
        }
    }

    @Test func customRequestDecodesPropertyListAtKeyPath() async throws {
        let pancake = Pancake(name: "P", eggs: 2)
        let request = Plist(content: .propertyList(["data": [Pancake(name: "", eggs: 0), pancake]]))

        #expect(try await TestQueue(echo).fetch(request) == pancake)
        #expect(echo.requests.first?.headers[.accept] == "application/x-plist")
    }

    struct Nested: DecodableRequest {
        typealias Success = [Int]
        typealias Failure = RequestError
        let keyPath: String?
        var identifier: String { keyPath ?? "" }

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: home)))
        }
    }

    @Test(arguments: ["items", "pages.0.items"]) func customRequestDecodesJSONAtKeyPath(
        _ keyPath: String
    ) async throws {
        let json = InMemoryTransport { _ in .json(#"{"items": [1, 2], "pages": [{"items": [1, 2]}]}"#) }

        #expect(try await TestQueue(json).fetch(Nested(keyPath: keyPath)) == [1, 2])
        let error = await #expect(throws: RequestError.self) {
            try await TestQueue(json).fetch(Nested(keyPath: "none"))
        }
        #expect(error?.code == .decoding)
    }

    @Test func topLevelDecodersSupportKeyPaths() async throws {
        let body = HTTPBody.propertyList(["data": Pancake(name: "P", eggs: 2)])
        let decoder = ResponseDecoder<Pancake>.decoded(by: PropertyListDecoder(), atKeyPath: "data")
        let queue = TestQueue(echo) { $0.baseURL = server }

        #expect(try await queue.fetch(Post<Pancake>("p", decoding: decoder).body(body)).eggs == 2)
        let empty = await #expect(throws: RequestError.self) {
            try await queue.fetch(Post<Pancake>("p", decoding: decoder))
        }
        #expect(empty?.code == .emptyResponse)
    }

    @Test func unencodableValueFailsRequest() async {
        let error = await #expect(throws: RequestError.self) {
            // A property list has a dictionary or an array at its top level.
            try await TestQueue.sent(Post<Data>("p").body(.propertyList("text")))
        }

        #expect(error?.code == .encoding && error?.phase == .building)
    }

    @Test func valuesAreDecodedOnDecodingQueue() async throws {
        let key = DispatchSpecificKey<Bool>()
        let decoding = DispatchQueue(label: "decoding")
        decoding.setSpecific(key: key, value: true)
        let decoder = ResponseDecoder<Bool> { _ in DispatchQueue.getSpecific(key: key) == true }
        let failing = ResponseDecoder<Bool> { _ in throw RequestError(.decoding, phase: .decoding) }
        let queue = TestQueue { $0.decodingQueue = decoding }

        #expect(try await queue.fetch(HTTPRequest(url: home).decoding(decoder)))
        #expect(try await !TestQueue().fetch(HTTPRequest(url: home).decoding(decoder)))
        let error = await #expect(throws: RequestError.self) {
            try await queue.fetch(HTTPRequest(url: home).decoding(failing))
        }
        #expect(error?.code == .decoding)
    }

    @Test(arguments: [(0.5, 0.5), (-1, 0), (7, 1), (.nan, nil)] as [(Double, Double?)])
    func httpPriorityIsPassedToTransport(_ priority: Double, _ expected: Double?) async throws {
        let transport = InMemoryTransport { _ in .json("1") }

        _ = try await TestQueue(transport).fetch(HTTPRequest(url: home).httpPriority(priority))

        #expect(transport.requests.first?.transportRequest?.priority == expected)
    }
}
