// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A request whose response is counted but not decoded, so that only the cost of running it is left.
struct CountRequest: DataRequest {
    typealias Success = Int
    static let url = URL(string: "http://localhost/count")!

    let number: Int
    var identifier: String { String(number) }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: Self.url)))
    }

    func processData(_ data: Data) throws -> Int { data.count }
}

/// A small JSON document over a socket.
struct TodoRequest: DecodableRequest {
    typealias Success = Todo

    let url: URL
    var identifier: String { url.absoluteString }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: url)))
    }
}

struct Todo: Codable, Sendable {
    var userId = 1
    var id = 1
    var title =
        "delectus aut autem, with a title that makes the document two hundred bytes long, as a small answer of a real"
    var completed = false
    var tags = ["home", "garden"]

    static let json: String = {
        (try? JSONEncoder().encode(Todo())).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }()
}

extension InMemoryTransport {
    static func counting() -> InMemoryTransport {
        let body = Data("ok".utf8)
        return InMemoryTransport(recordsRequests: false) { _ in .status(.ok, body: body) }
    }

    /// Responds after 10 ms, like a nearby server.
    static var late: InMemoryTransport {
        let body = Data("ok".utf8)
        return InMemoryTransport(recordsRequests: false) { _ in
            let gate = Gate()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { gate.open() }
            return .status(.ok, body: body).held(by: gate)
        }
    }
}
