// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets of *Caching and working offline*.
@Suite(.bounded) struct CachingArticleTests {
    @Test func staleResponsesAreUsedOffline() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try MockServer()
        server.route(.get, "/recipes", .text("soup", headers: [.cacheControl: "max-age=0"]))
        let url = server.url

        let cache = try ResponseCache(directory: folder.appending(path: "responses"))
        let client = HTTPClient(baseURL: url) { $0.cache = cache }

        client.environment.headers[.cacheControl] = "stale-if-error=604800"
        let request = Get<String>("recipes", decoding: .text)
        #expect(try await client.fetch(request) == "soup")
        server.stop()

        let stored = try? await client.fetch(request.cachePolicy(.returnCacheDataDontLoad))
        let current = try await client.fetch(request)

        #expect(stored == "soup" && current == "soup")
    }

    @Test func requestOverridesCaching() async throws {
        let cache = ResponseCache()
        let url = try #require(URL(string: "https://api.example.com"))
        let transport = InMemoryTransport { request in .status(.ok, body: Data(request.url.path.utf8)) }
        let client = HTTPClient(baseURL: url, transport: transport) { $0.cache = cache }

        let balance = try await client.fetch(Get<String>("balance").caching(.none))
        let menu = try await client.fetch(Get<String>("menu").caching(.for(.seconds(600))))

        #expect(balance == "/balance" && menu == "/menu")
        #expect(cache.responses(for: url.appending(path: "balance")).isEmpty)
        let address = url.appending(path: "menu")
        #expect(cache.responses(for: address).count == 1)

        let stored = cache.responses(for: address)
        cache.remove(for: address)
        cache.removeAll()

        #expect(stored.first?.body == Data("/menu".utf8) && cache.responses(for: address).isEmpty)
    }

    @Test func ignoredCookiesDoNotIdentifyUsers() async throws {
        let transport = InMemoryTransport { request in
            .status(.ok, headers: [.cacheControl: "max-age=60"], body: Data((request.headers[.cookie] ?? "").utf8))
        }
        let signed = ResponseCache(identity: .automatic.ignoringHeaders(["Date", "X-Amz-Date", "X-Signature"]))
        let counted = ResponseCache(identity: .cookies(ignoring: ["_ga", "AWSALB", "csrftoken"]))
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport) {
            $0.cache = counted
        }

        var answers: [String] = []
        for cookies in ["v=1; _ga=a", "AWSALB=x; v=1; _ga=b", "v=2; _ga=b"] {
            let request = Get<String>("me", decoding: .text).settingHeader(HTTPField(.cookie, cookies))
            answers.append(try await client.fetch(request))
        }

        #expect(answers == ["v=1; _ga=a", "v=1; _ga=a", "v=2; _ga=b"])

        let signing = client.inheriting { $0.cache = signed }
        for date in ["1", "2"] { _ = try await signing.fetch(Get<String>("me", decoding: .text).header("Date", date)) }
        #expect(transport.requests.count == 3)
    }

    @Test func namedCookiesIdentifyUsers() async throws {
        let transport = InMemoryTransport { request in
            .status(.ok, headers: [.cacheControl: "max-age=60"], body: Data((request.headers[.cookie] ?? "").utf8))
        }
        let named = ResponseCache(identity: .cookies(named: ["user_id"]))
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport) {
            $0.cache = named
        }

        var answers: [String] = []
        for cookies in ["user_id=1; session=a", "user_id=1; session=b", "user_id=2"] {
            let request = Get<String>("me", decoding: .text).settingHeader(HTTPField(.cookie, cookies))
            answers.append(try await client.fetch(request))
        }

        #expect(answers == ["user_id=1; session=a", "user_id=1; session=a", "user_id=2"])
    }

    // MARK: Connectivity

    private final class Banner: Sendable {
        private let state = Locked(false)
        var isHidden: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    @Test func requestsWaitForNetwork() async {
        let api = URL(string: "https://api.example.com")

        let patient = HTTPClient(baseURL: api) {
            $0.conditions.append(.connected(timeout: .seconds(60)))
            $0.interceptors.append(.retryingOffline(timeout: .seconds(30)))
        }

        #expect(patient.environment.conditions.count == 1 && patient.environment.interceptors.count == 1)
    }

    @Test func bannerReflectsConnectivity() async throws {
        let banner = Banner()
        banner.isHidden = !Connectivity.system.isConnected
        let following = Task {
            for await status in Connectivity.system.updates() {
                banner.isHidden = status.isConnected
            }
        }

        try await eventually { banner.isHidden == Connectivity.system.isConnected }
        following.cancel()
        await following.value
    }
}
