// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The snippets of the article about the forms of a request.
enum DefiningRequests {
    static func value(_ id: Int) async throws {
        let client = try HTTPClient(baseURL: "https://api.example.com/v1")
        let user = try await client.fetch(Get<User>("users/\(id)"))
        show(user)
    }

    struct GetUser: RequestSpec {
        let id: Int
        var request: Get<User> { Get("users/\(id)").timeout(10) }
    }

    struct GetEntries: RequestSpec {
        typealias Failure = RequestError  // `fetch` throws this type; by default, any error
        var request: Get<[Entry]> { Get("entries", decoding: .json(decoder: Self.decoder())) }

        static func decoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
    }

    static func addresses(_ name: String, _ exports: URL, _ link: URL) {
        let entries = Get<[Entry]>("users/\(name)/entries?sort=date")  // `name` can't choose another path
        let export = Download("exports/\(name).zip", to: .directory(exports))
        let next = Get<[Entry]>(link)  // a URL from a server
        show(entries, export, next)
    }

    static func builders(_ token: String?, _ fields: [String]) {
        let search = Get<[User]>("users")
            .headers {
                Accept(.json)
                if let token { Authorization("Bearer \(token)") }
            }
            .query {
                for field in fields { Item("fields", value: field) }
            }
        show(search)
    }

    nonisolated struct EntryFilter: Encodable {
        var text: String
        var tags: [String]
    }

    static func queries() {
        let filtered = Get<[Entry]>("entries").query(EntryFilter(text: "pan", tags: ["sweet", "fast"]))
        show(filtered)
    }

    static func closure(_ name: String) {
        let order = HTTPRequest {
            $0.path = "orders/\(name)"
            $0.method = .post
            $0.options.retry = .default
            $0.options.redirect = .follow(limit: 3)
            $0.options.priority = .high
        }
        show(order)
    }

    struct EntryRequest: DecodableRequest, ModifiableRequest {
        typealias Success = Entry
        let id: Int
        var options = RequestOptions()
        var identifier: String { "\(id)" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: site.appending(path: "entries/\(id)"))))
        }
    }

    static func modifiers(_ queue: OperationQueue) async throws {
        let entry = try await queue.fetch(EntryRequest(id: 7).retry(limit: 2).deadline(.seconds(30)).tag("entry"))
        show(entry)
    }

    enum Screen: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }

    static func userInfo() {
        let profile = Get<User>("users/me").userInfo(Screen.self, "profile")
        let tracing = ClosureInterceptor(adapt: { request, context in
            request.headers["X-Screen"] = context.userInfo[Screen.self]
        })
        show(profile, tracing)
    }

    static func decoders() {
        let etag = Head<String>("users", decoding: ResponseDecoder { $0.headers[.eTag] ?? "" })
        show(etag)
    }
}
