// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// The protocols of the library, adopted without a word about isolation, and used where a request is made or decoded.

enum Purge: HTTPMethod.Tag { static var method: HTTPMethod { "PURGE" } }

enum Route: HTTPRequest.Path.Convertible {
    case recipe(Int)

    var requestPath: HTTPRequest.Path {
        switch self {
        case .recipe(let id): "recipes/\(id)"
        }
    }
}

struct Trace: HTTPField.Convertible { var field: HTTPField { HTTPField("X-Trace", "1") } }

enum Tenant: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }

struct PlainDecoder: BodyDecoder {
    var accepted: [MediaType] { [.json] }

    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value {
        try JSONDecoder().decode(type, from: content)
    }
}

struct PlainEncoder: BodyEncoder {
    var contentType: MediaType { .json }

    func encode<Value: Encodable>(_ value: Value) throws -> Data { try JSONEncoder().encode(value) }
}

struct Ticket: HTTPDecodableResponse {
    var number: Int

    static func decode(_ response: HTTPResponse<Data>) throws -> Ticket { Ticket(number: response.body.count) }
}

struct TracingInterceptor: Interceptor {
    func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        request.headers["X-Tenant"] = context.userInfo[Tenant.self]
    }
}

struct RecipeSpec: RequestSpec {
    let id: Int
    var request: Get<Recipe> { Get<Recipe>(Route.recipe(id)).headers { Trace() }.userInfo(Tenant.self, "a") }
}

struct PurgeSpec: RequestSpec {
    var request: TypedRequest<Purge, Void> { TypedRequest<Purge, Void>("images/1") }
}

struct TicketSpec: RequestSpec {
    var request: Post<Ticket> { Post<Ticket>("tickets").userInfo(Tenant.self, "b") }
}

enum KitchenAPI: RequestProviding {
    case live
    var baseURL: URL { api }
}

struct QuietMonitor: EventMonitor {
    func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {}
}

func useAdopters() async throws {
    let client = HTTPClient(baseURL: api) {
        $0.interceptors = [TracingInterceptor()]
        $0.monitors = [QuietMonitor()]
    }
    show(try await client.fetch(RecipeSpec(id: 1)), try await client.fetch(TicketSpec()).number)
    try await client.fetch(PurgeSpec())
    show(try await client.fetch(KitchenAPI.live.get(.text, from: "menu")))
    show(try await client.fetch(Get<Recipe>(Route.recipe(1), decoding: .decoded(by: PlainDecoder()))))
}
