// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

struct User: Codable, Sendable { var name: String }

// What users of other libraries write first: the error says how it is written here.
func habits(url: URL, user: User, session: URLSession) async throws {
    _ = HTTPClient(baseURL: url, session: session)  // error: use `transport:`
    _ = Post<User>("users", body: user)  // error: add the body with a modifier: Post<User>("users").body(user)
    let client = HTTPClient(baseURL: url) {
        $0.decoder = JSONDecoder()  // error: use `makeDecoder = { … }`
        $0.encoder = JSONEncoder()  // error: use `makeEncoder = { … }`
    }
    let response = try await client.send(Get<User>("users/1"))
    _ = response.statusCode  // error: use `status`, or `status.code` for the number
    _ = response.head.statusCode  // error: use `status`, or `status.code` for the number
    client.add(Get<User>("users/1"))  // error: use addRequest(_:) for an operation
    _ = try await client.fetch("users/1", as: User.self)  // error: fetch(Get<User>("users/1"))
    _ = try await client.get("users/1")  // error: fetch(Get<User>("users/1"))

    _ = HTTPClient(baseURL: url, transport: session) { $0.makeDecoder = { JSONDecoder() } }
    _ = Post<User>("users").body(user)
    _ = response.status.code
    client.addRequest(Get<User>("users/1"))
}

func habits(error: RequestError) -> Bool {
    _ = error.statusCode  // error: use `response?.status`
    return error == .offline || error != .timedOut
}
