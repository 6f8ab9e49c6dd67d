// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct TypedRequestTests {
    @Test func requestTypesUseTheirHTTPMethod() {
        #expect(Get<User>("a").http.method == .get)
        #expect(Post<User>("a").http.method == .post)
        #expect(Put<User>("a").http.method == .put)
        #expect(Patch<User>("a").http.method == .patch)
        #expect(Delete<User>("a").http.method == .delete)
        #expect(Head<Void>("a").http.method == .head)
        #expect(Options<Void>("a").http.method == .options)
    }

    @Test func pathComponentsAreAppendedToBaseURL() async throws {
        let sent = try await TestQueue.sent(Get<User>("users", "1"))

        #expect(sent.url.absoluteString == "https://api.example.com/v1/users/1?key=k")
        #expect(sent.headers[.accept] == "application/json")
    }

    @Test func emptyPathUsesBaseURL() async throws {
        let sent = try await TestQueue.sent(Get<Data>())

        #expect(sent.url.absoluteString == "https://api.example.com/v1?key=k")
        #expect(sent.headers[.accept] == nil)
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("?x=1", "%3Fx%3D1"), ("#f", "%23f"), ("%2F", "%252F"), ("@evil.com", "%40evil.com"),
        ("https://evil.com", "https%3A%2F%2Fevil.com"), ("//evil.com", "%2F%2Fevil.com"), ("u:p@h", "u%3Ap%40h"),
        ("a b", "a%20b"), ("é😀", "%C3%A9%F0%9F%98%80"), ("\r\nX: y\0", "%0D%0AX%3A%20y%00"),
        ("...", "..."),
    ])
    func pathComponentIsPercentEncoded(_ component: String, _ segment: String) async throws {
        let sent = try await TestQueue.sent(Get<Data>("users", component, "x"))

        #expect(sent.url.absoluteString == "https://api.example.com/v1/users/\(segment)/x?key=k")
    }

    @Test func arrayPathComponentsArePercentEncoded() async throws {
        let sent = try await TestQueue.sent(Get<Data>(["a/b", "c"]))

        #expect(sent.url.absoluteString == "https://api.example.com/v1/a%2Fb/c?key=k")
    }

    @Test(arguments: [".", "..", "../x", "..\\.."])
    func pathTraversalComponentIsRejected(_ component: String) async {
        await #expect(throws: RequestError.self) {
            try await TestQueue.sent(Get<Data>("users", component))
        }
    }

    @Test func relativeURLRequiresBaseURL() async {
        let error = await #expect(throws: RequestError.self) {
            try await TestQueue.sent(Get<User>("users")) { $0.baseURL = nil }
        }

        #expect(error?.code == .invalidRequest && error?.phase == .building)
    }

    @Test func modifiersReturnModifiedCopies() {
        let request = Get<User>("users")

        let changed = request.headers { Header("X-A", value: "1") }.query(["a": "1"]).method(.post).timeout(5)

        #expect(request.http.headers.isEmpty && request.http.query.isEmpty && request.http.timeout == nil)
        #expect(changed.http.headers["X-A"] == "1" && changed.http.method == .post)
        #expect(changed.http.timeout == .seconds(5))
    }

    @Test func modifiersSetTheirProperties() {
        let request = Get<User>("users")
            .headers([.accept(.plainText), .acceptLanguage("en")])
            .settingHeader(.accept(.html)).addingHeader(HTTPField("X", "1")).addingHeader(HTTPField("X", "2"))
            .query(["a": 1]).query(["b": nil]).queryItems { Item("c", value: "3") }
            .cachePolicy(.reloadIgnoringLocalCacheData).allowsCellularAccess(false)
            .deadline(.seconds(9)).redirect(.refuse).maximumBodySize(7).acceptingAnyStatus().coalescing()
            .priority(.high).tag("users").accepting(statusCodes: [200, 404]).trust(.system)

        #expect(request.http.headers[values: .accept] == ["text/html"])
        #expect(request.http.headers[values: "X"] == ["1", "2"])
        #expect(request.http.query.percentEncoded == "a=1&b&c=3")
        #expect(request.http.cachePolicy == .reloadIgnoringLocalCacheData && !request.http.allowsCellularAccess)
        #expect(request.options.deadline == .seconds(9) && request.options.redirect == .refuse)
        #expect(request.options.maximumBodySize == 7 && !request.options.validatesStatus && request.options.coalesce)
        #expect(request.options.priority == .high && request.options.tag == "users")
        #expect(request.validHTTPStatusCodes == [200, 404])
        #expect(request.replacingQuery(["z": "1"]).http.query.percentEncoded == "z=1")
    }

    @Test func changingDecoderPreservesOtherSettings() async throws {
        let request = Get<User>("users").authenticated(with: .bearerToken("t")).query(["a": "1"]).tag("x")
            .accepting(statusCodes: [201]).headers([HTTPField("X", "1")]).decoding(.text)

        let sent = try await TestQueue.sent(request)

        #expect(sent.headers[.authorization] == "Bearer t" && sent.headers["X"] == "1")
        #expect(sent.url.query(percentEncoded: true) == "key=k&a=1")
        #expect(request.options.tag == "x" && request.validHTTPStatusCodes == [201])
    }

    @Test func signatureAndInterceptorQueryItemsAreSent() async throws {
        let signing = AuthenticationProvider { $0.query.append("signature", value: "s") }
        let interceptor = ClosureInterceptor(adapt: { request, _ in request.query.append("trace", value: "t") })

        let sent = try await TestQueue.sent(Get<Data>("u").query(["a": "1"]).authenticated(with: signing)) {
            $0.interceptors = [interceptor]
        }
        let plain = try Get<Data>("u").authenticated(with: signing).toURLRequest(baseURL: server)

        #expect(sent.url.query(percentEncoded: true) == "key=k&a=1&signature=s&trace=t")
        #expect(plain.url?.query(percentEncoded: true) == "key=k&signature=s")
    }

    @Test func responseIsDecodedAsRequestedType() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .json(#"{"id": 7, "name": "Bob"}"#) }) { $0.baseURL = server }

        #expect(try await queue.fetch(Get<User>("u")) == User(id: 7, name: "Bob"))
        #expect(try await queue.fetch(Get<String>("u")) == #"{"id": 7, "name": "Bob"}"#)
        #expect(try await queue.fetch(Get<Data>("u")).count == 24)
        try await queue.fetch(Get<Void>("u"))
        #expect(try await queue.fetch(Get<JSONValue>("u"))["id"] == 7)
        #expect(try await queue.send(Get<User>("u")).body.name == "Bob")
    }

    @Test func operationInheritsRequestPriority() {
        let queue = TestQueue(isSuspended: true) { $0.baseURL = server }
        defer { queue.base.cancelAllOperations() }
        let request = Get<Data>("u").priority(.veryHigh)

        #expect(queue.addRequest(request).queuePriority == .veryHigh)
        #expect(queue.addRequest(request, priority: .low).queuePriority == .low)
        #expect(queue.makeOperation(for: request).queuePriority == .veryHigh)
    }
}
