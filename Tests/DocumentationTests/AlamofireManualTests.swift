// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The examples of Alamofire's basic manual, with the same purpose and this library's API: requests, parameters, header
/// fields, validation, responses and credentials.
@Suite(.bounded, .tags(.behaviour)) struct AlamofireManualTests {
    struct Login: Codable, Equatable, Sendable {
        let email: String
        let password: String
    }

    struct Page: Decodable, Equatable, Sendable {
        let url: String
    }

    private let transport = InMemoryTransport { .json(#"{"url": "\#($0.url.absoluteString)"}"#) }
    private var client: HTTPClient {
        HTTPClient(baseURL: URL(string: "https://kitchen.example"), transport: transport)
    }
    private var sent: TransportRequest? { transport.requests.last }

    private func query(_ value: some Encodable, _ configure: (inout QueryEncoder) -> Void) throws -> String {
        var encoder = QueryEncoder()
        configure(&encoder)
        return try encoder.encode(value).percentEncoded.removingPercentEncoding ?? ""
    }

    // MARK: Requests

    @Test func anAddressIsFetchedAndTheResponsePrinted() async throws {
        let response = try await client.send(HTTPRequest("https://kitchen.example/get"))

        #expect("\(response)".contains("200 OK") && response.body.count > 0)
    }

    @Test func aResponseMayComeToAClosure() async {
        let text = await withCheckedContinuation { continuation in
            client.addRequest(HTTPRequest("get")) { result in
                continuation.resume(returning: (try? result.get()).map { String(decoding: $0, as: UTF8.self) })
            }
        }

        #expect(text == #"{"url": "https://kitchen.example/get"}"#)
    }

    @Test(arguments: [HTTPMethod.get, .post, .put, .delete]) func aRequestHasAMethod(method: HTTPMethod) async throws {
        _ = try await client.fetch(HTTPRequest(method: method, "anything"))

        #expect(sent?.method == method)
    }

    @Test func aMethodOfOnesOwnIsAName() async throws {
        let brew = HTTPMethod("BREW")

        _ = try await client.fetch(HTTPRequest(method: brew, "pot"))

        #expect(sent?.method.rawValue == "BREW")
    }

    @Test func theRequestOfFoundationIsChangedInAClosure() async throws {
        let request = HTTPRequest("get").decoding(.data).modifyingURLRequest {
            $0.timeoutInterval = 5
            $0.allowsCellularAccess = false
        }

        _ = try await client.fetch(request)

        #expect(sent?.timeout == .seconds(5) && sent?.allowsCellularAccess == false)
    }

    // MARK: Parameters

    @Test func aValueIsPostedAsJSON() async throws {
        let login = Login(email: "ada@kitchen.example", password: "1815")

        _ = try await client.fetch(Post<Data>("post").body(.json(login)))

        #expect(try JSONDecoder().decode(Login.self, from: try #require(try sent?.body.data())) == login)
        #expect(sent?.headers[.contentType] == "application/json")
    }

    @Test func parametersOfAGetAreItsQuery() async throws {
        _ = try await client.fetch(Get<Data>("get").query(["dish": "soup"]))

        #expect(sent?.url.absoluteString == "https://kitchen.example/get?dish=soup")
    }

    @Test func parametersOfAPostAreAForm() async throws {
        let parameters = ["dish": ["soup"], "side": ["rice", "bread"]]

        _ = try await client.fetch(Post<Data>("post").body(.form(parameters)))

        let text = String(decoding: try #require(try sent?.body.data()), as: UTF8.self)
        #expect(text.removingPercentEncoding == "dish[]=soup&side[]=rice&side[]=bread")
        #expect(sent?.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func keysAreInTheOrderOfTheirTypeOrOfTheAlphabet() throws {
        struct Dish: Encodable { let spice = "salt", base = "rice" }

        #expect(try query(Dish()) { _ in } == "spice=salt&base=rice")
        #expect(try query(["spice": "salt", "base": "rice"]) { _ in } == "base=rice&spice=salt")
    }

    @Test func listsHaveBracketsOrNone() throws {
        #expect(try query(["n": [1, 2]]) { $0.arrays = .brackets } == "n[]=1&n[]=2")
        #expect(try query(["n": [1, 2]]) { $0.arrays = .noBrackets } == "n=1&n=2")
        #expect(try query(["n": [1, 2]]) { $0.arrays = .indexed } == "n[0]=1&n[1]=2")
        #expect(try query(["n": [1, 2]]) { $0.arrays = .custom { "\($0)_\($1)" } } == "n_0=1&n_1=2")
    }

    @Test func truthIsANumberOrAWord() throws {
        #expect(try query(["hot": true]) { $0.bools = .numeric } == "hot=1")
        #expect(try query(["hot": true]) { $0.bools = .literal } == "hot=true")
    }

    @Test func dataIsWrittenAsOneLikes() throws {
        let data = ["d": Data("ab".utf8)]

        #expect(try query(data) { $0.data = .base64 } == "d=YWI=")
        #expect(try query(data) { $0.data = .custom { "\($0.count)" } } == "d=2")
        #expect(
            try query(data) {
                $0.data = .deferred
                $0.arrays = .noBrackets
            } == "d=97&d=98"
        )
    }

    @Test func datesAreWrittenAsOneLikes() throws {
        let date = ["d": Date(timeIntervalSince1970: 1)]

        #expect(try query(date) { $0.dates = .secondsSince1970 } == "d=1")
        #expect(try query(date) { $0.dates = .millisecondsSince1970 } == "d=1000")
        #expect(try query(date) { $0.dates = .iso8601 } == "d=1970-01-01T00:00:01Z")
        #expect(try query(date) { $0.dates = .custom { _ in "noon" } } == "d=noon")
    }

    @Test func keysAreSpelledAsOneLikes() throws {
        struct Dish: Encodable { let mainPart = 1 }

        #expect(try query(Dish()) { $0.keys = .snakeCase } == "main_part=1")
        #expect(try query(Dish()) { $0.keys = .kebabCase } == "main-part=1")
        #expect(try query(Dish()) { $0.keys = .capitalized } == "MainPart=1")
        #expect(try query(Dish()) { $0.keys = .uppercased } == "MAINPART=1")
        #expect(try query(Dish()) { $0.keys = .lowercased } == "mainpart=1")
        #expect(try query(Dish()) { $0.keys = .custom { "x\($0)" } } == "xmainPart=1")
    }

    @Test func pathsOfKeysAreJoinedAsOneLikes() throws {
        let nested = ["a": ["b": ["c": 1]]]

        #expect(try query(nested) { $0.keyPaths = .brackets } == "a[b][c]=1")
        #expect(try query(nested) { $0.keyPaths = .dots } == "a.b.c=1")
        #expect(try query(nested) { $0.keyPaths = .custom { "\($0)-\($1)" } } == "a-b-c=1")
    }

    @Test func spacesAreEscapedOrPluses() throws {
        var encoder = QueryEncoder()
        #expect(try encoder.encode(["q": "a b"]).percentEncoded == "q=a%20b")
        encoder.spaces = .plus
        #expect(try encoder.encode(["q": "a b"]).percentEncoded == "q=a+b")
    }

    @Test func nilValueIsOmittedOrWritten() throws {
        struct Dish: Encodable {
            let side: String?
            let main = "rice"
            enum CodingKeys: CodingKey { case side, main }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(side, forKey: .side)
                try container.encode(main, forKey: .main)
            }
        }

        #expect(try query(Dish(side: nil)) { $0.nils = .dropKey } == "main=rice")
        #expect(try query(Dish(side: nil)) { $0.nils = .empty } == "side=&main=rice")
        #expect(try query(Dish(side: nil)) { $0.nils = .dropValue } == "side&main=rice")
        #expect(try query(Dish(side: nil)) { $0.nils = .null } == "side=null&main=rice")
    }

    @Test func aCoderOfOnesOwnWritesTheJSON() async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Dish: Encodable { let mainPart = "rice" }

        _ = try await client.fetch(Post<Data>("post").body(.json(Dish(), encoder: encoder)))

        #expect(try sent?.body.data() == Data(#"{"main_part":"rice"}"#.utf8))
    }

    @Test func aRequestOfFoundationIsMadeWithItsParameters() throws {
        let request = try Get<Data>("get").query(["dish": "soup"]).toURLRequest(baseURL: api)

        #expect(request.url?.query == "dish=soup" && request.httpMethod == "GET")
    }

    // MARK: Header fields

    @Test func fieldsAreNamesAndValuesOrTypedOnes() async throws {
        _ = try await client.fetch(Get<Data>("headers").headers(["X-Dish": "soup", "Accept": "application/json"]))
        #expect(sent?.headers["x-dish"] == "soup" && sent?.headers[.accept] == "application/json")

        let fields: HTTPHeaders = [.basicAuth(username: "ada", password: "1815"), .accept(.json)]
        _ = try await client.fetch(Get<Data>("headers").headers(fields))
        #expect(sent?.headers[.authorization] == "Basic YWRhOjE4MTU=")
    }

    @Test func requestsHaveAUserAgentAndLanguages() async throws {
        _ = try await client.fetch(Get<Data>("headers"))

        #expect(sent?.headers.contains(.userAgent) == true && sent?.headers.contains(.acceptLanguage) == true)
    }

    // MARK: Validation

    @Test func statusAndTypeAreValidated() async throws {
        let refusing = InMemoryTransport { _ in .status(.notFound, headers: [.contentType: "text/html"]) }
        let html = InMemoryTransport { _ in .status(.ok, headers: [.contentType: "text/html"], body: Data("<p>".utf8)) }
        let request = HTTPRequest("https://kitchen.example/").decoding(.data).headers([.accept(.json)])

        await #expect { try await self.client.fetch(request, session: refusing) } throws: {
            ($0 as? RequestError)?.code == .unacceptableStatus
        }
        await #expect { try await self.client.fetch(request.validating(with: .contentType), session: html) } throws: {
            ($0 as? RequestError)?.code == .unacceptableContentType
        }
    }

    @Test func oneSaysWhatIsAccepted() async throws {
        let teapot = InMemoryTransport { _ in .json("{}", status: HTTPStatus(418)) }
        let request = HTTPRequest("https://kitchen.example/").decoding(.data)
            .accepting(statusCodes: 200..<500)
            .validating(with: .contentType(.json))

        #expect(try await client.fetch(request, session: teapot) == Data("{}".utf8))
        #expect(try await client.send(request.acceptingAnyStatus(), session: teapot).status.code == 418)
    }

    @Test func oneJudgesInAClosure() async throws {
        struct Burnt: Error {}
        let request = Get<Data>("get").validating { response in
            if response.body.count < 1000 { throw Burnt() }
        }

        await #expect { try await self.client.fetch(request) } throws: {
            ($0 as? RequestError)?.underlying is Burnt
        }
    }

    // MARK: Responses

    @Test func contentIsDataTextOrAValue() async throws {
        let text = #"{"url": "https://kitchen.example/get"}"#

        #expect(try await client.fetch(Get<Data>("get")) == Data(text.utf8))
        #expect(try await client.fetch(Get<String>("get")) == text)
        #expect(try await client.fetch(Get<Page>("get")).url == "https://kitchen.example/get")
        #expect(try await client.send(Get<Void>("get")).status == .ok)
    }

    @Test func oneTransferIsReadTwice() async throws {
        let response = try await client.send(Get<Data>("get"))

        let text = try response.text()
        let page = try response.decodeJSON(Page.self)

        #expect(text.contains(page.url) && transport.requests.count == 1)
    }

    @Test func theClosureRunsOnAQueueOfOnesChoice() async {
        let queue = DispatchQueue(label: "kitchen")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)

        let isThere = await withCheckedContinuation { continuation in
            client.addRequest(Get<Page>("get"), completionQueue: queue) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key) ?? false)
            }
        }

        #expect(isThere)
    }

    @Test func responsesAreCachedWhereThatIsSwitchedOn() async throws {
        let fresh = InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=60"]) }
        let client = HTTPClient(baseURL: api, transport: fresh) { $0.cache = ResponseCache() }

        for _ in 1...3 { _ = try await client.fetch(Get<Data>("get")) }

        #expect(fresh.requests.count == 1)
    }

    // MARK: Credentials

    @Test func aChallengeIsAnsweredWithACredential() async throws {
        let asking = InMemoryTransport { request in
            request.headers[.authorization] == "Basic YWRhOjE4MTU="
                ? .json("{}") : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="kitchen""#])
        }
        let client = HTTPClient(baseURL: api, transport: asking) {
            $0.interceptors = [
                CredentialInterceptor { _, _ in URLCredential(user: "ada", password: "1815", persistence: .forSession) }
            ]
        }

        #expect(try await client.send(Get<Void>("basic-auth")).status == .ok)
        #expect(asking.requests.count == 2)
    }

    @Test func credentialsMayBeSentUnasked() async throws {
        let request = Get<Data>("basic-auth").authenticated(with: .basicAuth(username: "ada", password: "1815"))

        _ = try await client.fetch(request)

        #expect(sent?.headers[.authorization] == "Basic YWRhOjE4MTU=" && transport.requests.count == 1)
    }
}
