// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The header fields by which a cache distinguishes users and variants, whatever their names are.
@Suite(.bounded) struct CacheFieldTests {
    /// A server whose responses are fresh for an hour, without `Vary`, and numbered.
    private let server: InMemoryTransport = {
        let count = Locked(0)
        return InMemoryTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("\(number)".utf8))
        }
    }()

    private func client(_ cache: ResponseCache) -> HTTPClient {
        HTTPClient(transport: server) { $0.cache = cache }
    }

    private func get(_ client: HTTPClient, _ headers: HTTPHeaders) async throws -> String {
        let request = HTTPRequest(url: CacheSample.url, headers: headers)
        return String(decoding: try await client.send(request).body, as: UTF8.self)
    }

    static let identifying: [HTTPField.Name] = [
        "X-Token-V2", "X-User-ID", "X-Tenant", "X-Forwarded-User", "Stripe-Account", "X-Member", "From", "Referer",
        "X-Api-Version", "Authorization", "X-API-Key", "DPoP", "Content-Type", "Prefer", "Priority",
    ]

    @Test(arguments: identifying, ["request", "client", "interceptor"])
    func identifyingFieldValuesDoNotShareResponse(_ name: HTTPField.Name, setBy source: String) async throws {
        let cache = ResponseCache()
        var texts: [String] = []
        for user in ["ada", "bob", "ada"] {
            let field = HTTPField(name, user)
            let client = client(cache).inheriting {
                if source == "client" { $0.headers.set(field) }
                if source == "interceptor" {
                    $0.interceptors = [ClosureInterceptor(adapt: { request, _ in request.headers.set(field) })]
                }
            }
            texts.append(try await get(client, source == "request" ? [field] : []))
        }

        #expect(texts == ["1", "2", "1"])
    }

    /// The names that public APIs use for credentials, users and their own settings.
    @Test(arguments: FieldSample.fields.filter { $0.kind != .harmless })
    func knownAPIFieldsDoNotShareResponse(_ sample: FieldSample) async throws {
        let (client, name) = (client(ResponseCache()), HTTPField.Name(sample.name))
        let texts = [
            try await get(client, [name: "ada=1"]), try await get(client, [name: "bob=1"]),
            try await get(client, [name: "ada=1"]),
        ]

        #expect(texts == ["1", "2", "1"])
    }

    static let harmless: [HTTPField.Name] = [
        "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "traceparent", "tracestate", "X-Request-ID",
        "X-Correlation-ID", "Idempotency-Key", "Pragma",
    ]

    /// A typical client: a constant token, and fields that differ in each request.
    @Test(arguments: harmless) func harmlessFieldDoesNotSplitCacheEntries(_ name: HTTPField.Name) async throws {
        let client = client(ResponseCache())
        var texts: Set<String> = []
        for number in 1...5 {
            texts.insert(try await get(client, [.authorization: "Bearer t", name: "value-\(number)"]))
        }

        #expect(texts == ["1"])
    }

    /// A field that the caller has marked as sensitive counts, whatever its name is.
    @Test func harmlessFieldMarkedSensitiveSplitsEntries() async throws {
        let client = client(ResponseCache()).inheriting { $0.sensitiveHeaders = ["X-Request-ID"] }

        let texts = [
            try await get(client, ["X-Request-ID": "ada"]), try await get(client, ["X-Request-ID": "bob"]),
        ]
        #expect(texts == ["1", "2"])
    }

    @Test(arguments: [
        ResponseCache.Identity.automatic.ignoringHeaders(["Date", "dpop", "X-Amz-Date"]),
        .custom { $0.headers["X-Member"] ?? "" },
    ]) func perRequestFieldsCanBeIgnored(_ identity: ResponseCache.Identity) async throws {
        let client = client(ResponseCache(identity: identity))
        var texts: [String] = []
        for (number, member) in ["ada", "ada", "bob", "ada"].enumerated() {
            let signed: HTTPHeaders = ["Date": "\(number)", "DPoP": "\(number)", "X-Amz-Date": "\(number)"]
            texts.append(try await get(client, signed.merging(["X-Member": member])))
        }

        #expect(texts == ["1", "1", "2", "1"])
    }

    // MARK: Variants

    private func makeCache(_ identity: ResponseCache.Identity, _ folder: URL?) throws -> ResponseCache {
        guard let folder else { return ResponseCache(identity: identity) }
        return try ResponseCache(directory: folder, memoryLimit: 0, identity: identity)
    }

    /// A field that differs in each request would otherwise fill the cache with responses that are never used again.
    @Test(arguments: [false, true], ["Date", "DPoP", "X-Signature", "X-Tenant"] as [HTTPField.Name])
    func variantsAreLimitedToEightPerURL(onDisk: Bool, _ name: HTTPField.Name) async throws {
        let folder = TemporaryFolder()
        let cache = try makeCache(.automatic, onDisk ? folder.url : nil)
        let client = client(cache)
        for number in 1...20 {
            // The first response remains in use.
            _ = try await get(client, [name: "1"])
            _ = try await get(client, [name: "\(number)"])
        }

        #expect(cache.responses(for: CacheSample.url).count == 8)
        #expect(try await get(client, [name: "1"]) == "1")
        #expect(try await get(client, [name: "20"]) == "20")
        #expect(try await get(client, [name: "2"]) == "21")
    }

    @Test(arguments: [false, true]) func numberOfUsersPerURLIsUnlimited(onDisk: Bool) async throws {
        let folder = TemporaryFolder()
        let identity = ResponseCache.Identity.automatic.identifyingUsers(byHeaders: ["X-API-Key"])
        let client = client(try makeCache(identity, onDisk ? folder.url : nil))
        for field in [HTTPField(.authorization, "Bearer "), HTTPField(.cookie, "a="), HTTPField(.apiKey, "k")] {
            let first = try await get(client, [HTTPField(field.name, field.value + "1"), HTTPField("X-Kind", "a")])
            for number in 2...20 { _ = try await get(client, [HTTPField(field.name, field.value + "\(number)")]) }

            let again = try await get(client, [HTTPField(field.name, field.value + "1"), HTTPField("X-Kind", "a")])
            #expect(again == first, "\(field.name)")
        }
    }

    /// The server decides how many variants it declares with `Vary`.
    @Test func varyVariantsAreNotLimited() async throws {
        let languages = InMemoryTransport { request in
            let headers: HTTPHeaders = [.cacheControl: "max-age=3600", .vary: "Accept-Language"]
            return .status(.ok, headers: headers, body: Data((request.headers[.acceptLanguage] ?? "").utf8))
        }
        let client = HTTPClient(transport: languages) { $0.cache = ResponseCache() }
        for round in 1...2 {
            for number in 1...20 {
                let text = try await get(client, [.acceptLanguage: "x-\(number)", "X-Tenant": "t"])
                #expect(text == "x-\(number)" && languages.requests.count == (round == 1 ? number : 20))
            }
        }
    }
}

extension HTTPHeaders {
    fileprivate func merging(_ other: HTTPHeaders) -> HTTPHeaders {
        var headers = self
        headers.merge(other)
        return headers
    }
}
