// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The examples of RealHTTP's manual, with the same purpose and this library's API.
@Suite(.bounded, .tags(.behaviour)) struct RealHTTPManualTests {
    struct Member: Decodable, Sendable, Equatable {
        let name: String
    }

    struct Guest: HTTPDecodableResponse, Equatable {
        struct Invalid: Error {}
        let name: String

        static func decode(_ response: HTTPResponse<Data>) throws -> Guest {
            let json = try response.decodeJSON(JSONValue.self)
            guard json["isValid"] == true, case .string(let name)? = json["fullName"] else { throw Invalid() }
            return Guest(name: name)
        }
    }

    /// An API that answers 200 whatever happens, and says in the content what did.
    struct EnvelopeValidator: ResponseValidator {
        struct Refusal: Error, Equatable { let message: String }

        func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict {
            let json = try response.decodeJSON(JSONValue.self)
            if json["code"] == 0 { return .accept }
            if json["retriable"] == true { return .retry(.fibonacci(.milliseconds(1), limit: 2)) }
            guard case .string(let message)? = json["errorMsg"] else { return .fail(Refusal(message: "unknown")) }
            return .fail(Refusal(message: message))
        }
    }

    private let home = URL(string: "https://club.example/api")!
    private let transport = InMemoryTransport { _ in .json(#"{"name": "Ada", "isValid": true, "fullName": "Ada L."}"#) }
    private var client: HTTPClient { HTTPClient(baseURL: home, transport: transport) }
    private var sent: TransportRequest? { transport.requests.last }

    // MARK: Requests

    @Test func aValueIsFetchedInOneLine() async throws {
        let member = try await HTTPRequest("https://club.example/members/1").fetch(Member.self, on: client)

        #expect(member == Member(name: "Ada"))
    }

    @Test func jsonIsPosted() async throws {
        let request = HTTPRequest(method: .post, "members", body: .json(["name": "Ada", "born": 1815]))

        _ = try await client.fetch(request)

        #expect(try sent?.body.data() == Data(#"{"born":1815,"name":"Ada"}"#.utf8))
    }

    @Test func anAddressIsATemplate() async throws {
        _ = try await client.fetch(HTTPRequest(URI: "members/{id}{?full}", variables: ["id": 1, "full": true]))

        #expect(sent?.url.absoluteString == "https://club.example/api/members/1?full=true")
    }

    @Test func aRequestIsBuiltInAClosure() async throws {
        let request = HTTPRequest {
            $0.path = "login"
            $0.method = .post
            $0.timeout = .seconds(100)
            $0.allowsCellularAccess = false
            $0.query.append("full", value: 1)
            $0.body = .json(["username": "ada", "pwd": "1815"])
        }
        .decoding(.data).redirect(.refuse).retry(limit: 4)

        _ = try await client.fetch(request)

        #expect(sent?.url.absoluteString == "https://club.example/api/login?full=1" && sent?.timeout == .seconds(100))
    }

    @Test func parametersOfAnyKindAreAdded() async throws {
        var encoder = QueryEncoder()
        encoder.spaces = .plus
        encoder.bools = .literal
        let query = try encoder.encode(["name": "Michael Bublé", "auto": true])

        _ = try await client.fetch(Get<Data>("login").query(query))

        #expect(sent?.url.query(percentEncoded: true) == "name=Michael+Bubl%C3%A9&auto=true")
    }

    @Test func fieldsAreThoseOfTheClientAndOfTheRequest() async throws {
        let client = HTTPClient(baseURL: home, transport: transport) {
            $0.headers[.userAgent] = "Club/1"
            $0.headers["X-Experimental"] = "true"
        }

        _ = try await client.fetch(Get<Data>("a").headers([.userAgent: "Other/2", .cacheControl: "no-transform"]))

        #expect(sent?.headers[.userAgent] == "Other/2" && sent?.headers["X-Experimental"] == "true")
    }

    @Test func bodiesAreFormsDataTextsAndParts() async throws {
        let bodies: [(HTTPBody, String)] = [
            (.form(["username": "Michael Bublé", "pwd": "abc"]), "application/x-www-form-urlencoded"),
            (.data(Data("PK".utf8), type: "application/zip"), "application/zip"),
            (.text("😃", type: .html), "text/html; charset=utf-8"),
            (.multipart(boundary: "b") { $0.add("320x240", for: "size") }, "multipart/form-data; boundary=b"),
        ]

        for (body, type) in bodies {
            _ = try await client.fetch(Post<Data>("a").body(body))
            #expect(sent?.headers[.contentType] == type)
        }
    }

    @Test func theRequestOfFoundationIsChangedBeforeItIsSent() async throws {
        let client = HTTPClient(baseURL: home, transport: transport) { $0.headers["X-API-Key"] = "k" }
        let request = Get<Data>("a").modifyingURLRequest {
            $0.allowsCellularAccess = false
            $0.setValue(nil, forHTTPHeaderField: "X-API-Key")
        }

        _ = try await client.fetch(request)

        #expect(sent?.allowsCellularAccess == false && sent?.headers.contains("X-API-Key") == false)
    }

    @Test func aRequestIsCancelled() async {
        let silent = InMemoryTransport { _ in .never }
        let operation = client.addRequest(Get<Member>("a"), session: silent)

        operation.cancel()

        await #expect { try await operation.value() } throws: { ($0 as? RequestError)?.code == .cancelled }
    }

    // MARK: Responses

    @Test func aTypeDecodesItself() async throws {
        #expect(try await client.fetch(Get<Guest>("a")) == Guest(name: "Ada L."))
        await #expect {
            try await self.client.fetch(Get<Guest>("a"), session: InMemoryTransport { _ in .json("{}") })
        } throws: { ($0 as? RequestError)?.underlying is Guest.Invalid }
    }

    @Test func jsonIsReadWithoutAType() async throws {
        let json = try await client.fetch(Get("a", decoding: .jsonObject))

        #expect(json["name"] == "Ada" && json["isValid"] == true)
    }

    @Test func aResponseHasStatusFieldsMetricsAndContent() async throws {
        let response = try await client.send(Get<Data>("a"))

        #expect(response.status == .ok && response.headers[.contentType] == "application/json")
        #expect(try response.text().contains("Ada") && response.metrics != nil)
    }

    // MARK: Validators

    @Test func aValidatorJudgesByTheContent() async throws {
        let envelopes = InMemoryTransport { request in
            .json(request.url.path.hasSuffix("good") ? #"{"code": 0}"# : #"{"code": 1, "errorMsg": "closed"}"#)
        }
        let client = HTTPClient(baseURL: home, transport: envelopes) { $0.validators.append(EnvelopeValidator()) }

        #expect(try await client.send(Get<Void>("good")).status == .ok)
        await #expect { try await client.send(Get<Void>("bad")) } throws: {
            ($0 as? RequestError)?.underlying as? EnvelopeValidator.Refusal == .init(message: "closed")
        }
    }

    @Test func aValidatorHasTheRequestRetried() async throws {
        let count = Locked(0)
        let busy = InMemoryTransport { _ in
            count.withLock {
                $0 += 1
                return $0
            } < 3 ? .json(#"{"code": 1, "retriable": true}"#) : .json(#"{"code": 0}"#)
        }
        let client = HTTPClient(baseURL: home, transport: busy) { $0.validators.append(EnvelopeValidator()) }

        _ = try await client.send(Get<Void>("a"))

        #expect(busy.requests.count == 3)
    }

    @Test func aValidatorPutsAnotherResponseInThePlace() async throws {
        let unwrapping = Get<Member>("a").validating { response, _ in
            .accept(replacing: HTTPResponse(head: response.head, body: Data(#"{"name": "Bob"}"#.utf8)))
        }

        #expect(try await client.fetch(unwrapping).name == "Bob")
    }

    @Test func anEmptyResponseIsRefused() async {
        let empty = InMemoryTransport { _ in .status(.ok) }
        let request = Get<Data>("a").validating(with: .content)

        await #expect { try await self.client.fetch(request, session: empty) } throws: {
            ($0 as? RequestError)?.code == .emptyResponse
        }
    }

    @Test func aSilentLoginComesBeforeTheRetry() async throws {
        let token = Locked("old")
        let server = InMemoryTransport { request in
            if request.url.path.hasSuffix("refreshToken") { return .status(.ok, body: Data("new".utf8)) }
            return request.headers["X-Token"] == "new" ? .json(#"{"name": "Ada"}"#) : .status(.unauthorized)
        }
        let client = HTTPClient(baseURL: home, transport: server) {
            $0.interceptors = [
                .recover(on: [.unauthorized]) { _, client in
                    let fresh = try await client.send(HTTPRequest("refreshToken")).text()
                    token.withLock { $0 = fresh }
                },
                .adapting { $0.headers["X-Token"] = token.withLock { $0 } },
            ]
        }

        #expect(try await client.fetch(Get<Member>("books")).name == "Ada")
        #expect(server.requests.count == 3)
    }

    @Test func aTaskRunsBeforeTheRetry() async throws {
        let token = Locked("old")
        let server = InMemoryTransport { request in
            request.headers[.authorization] == "Bearer new"
                ? .json(#"{"name": "Ada"}"#) : .json("{}", status: .forbidden)
        }
        let client = HTTPClient(baseURL: home, transport: server) {
            $0.interceptors = [.adapting { $0.headers.set(.bearerToken(token.withLock { $0 })) }]
            $0.validators = [
                .closure { response, _ in
                    response.status != .forbidden
                        ? .accept : .retry(.after({ _ in token.withLock { $0 = "new" } }, delay: .milliseconds(1)))
                }
            ]
        }

        #expect(try await client.fetch(Get<Member>("books")).name == "Ada")
    }

    // MARK: Security and debugging

    @Test func certificatesArePinnedAndSelfSignedOnesAccepted() throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let pinned = try TrustPolicy.system.pinning([pin], forHosts: ["club.example"])
        let careless = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])

        #expect(pinned != careless)
        #expect(Get<Data>("a").trust(careless).options.trust == careless)
    }

    @Test func aRequestIsACommandAndMetricsAreAPicture() async throws {
        #expect(try Get<Data>("a").cURL(baseURL: home).contains("https://club.example/api/a"))

        let response = try await client.send(Get<Data>("a"))
        #expect(response.metrics?.text().isEmpty == false)
    }

    @Test func largeFilesTellTheirProgressAndAreResumed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "RealHTTP.\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let film = HTTPRequest(url: api.appending(path: "films/7")).download(to: .file(folder.appending(path: "film")))
        let client = HTTPClient()

        let operation = client.addRequest(film)
        let token = await withCheckedContinuation { continuation in
            operation.cancel { continuation.resume(returning: $0) }
        }
        let rest = client.addRequest(film.resuming(from: token))
        var last: TransferProgress?
        for await progress in rest.progressUpdates() { last = progress }

        #expect(try await Data(contentsOf: rest.value()) == Kitchen.film)
        #expect(last?.fraction == 1)
    }
}
