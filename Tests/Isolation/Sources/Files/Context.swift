// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// What the snippets of the articles use without declaring it. `show` and the other functions are called on threads of
// the library.

nonisolated let api = URL(string: "http://localhost:1") ?? URL(fileURLWithPath: "/")
nonisolated let site = api

nonisolated struct Author: Decodable {
    let name: String
}

nonisolated struct User: Decodable, Sendable {
    var id = 7
}

nonisolated struct Entry: Decodable, Sendable {
    var id = 7
}

nonisolated struct Menu: Decodable {
    let title: String
}

struct AuthorRequest: DecodableRequest {
    typealias Success = Author
    let authorID: Int
    var identifier: String { "\(authorID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "authors/\(authorID)"))))
    }
}

struct MenuRequest: DecodableRequest {
    typealias Success = Menu
    let dish: String
    let cook: String
    var identifier: String { "\(dish) \(cook)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "menus"))))
    }
}

nonisolated func show(_ values: Any?...) {}
nonisolated func forgetUser() {}
