// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Tells the request from every other that a server could answer differently, without a secret in it.
    ///
    /// The method, the whole address, the header fields, the credentials and the content are in it as a digest. A file
    /// or a stream may be another one each time that it is sent: a request with such a body is equal to nothing,
    /// itself included.
    ///
    /// - Complexity: O(n) in the size of what is sent, a body in memory included.
    var identity: String {
        var digest = Digest()
        digest.add(method.rawValue)
        digest.add(url.absoluteString)
        digest.add(query.percentEncoded)
        digest.add(authenticated.headers)
        digest.add(body)
        return "\(self) \(digest.hexadecimal)"
    }

    // Credentials that can't be had now will fail the request when it is built.
    private var authenticated: HTTPRequest {
        var copy = self
        do {
            try authentication.authenticate(&copy)
        } catch {
            copy.headers.add("\(error)", for: .authorization)
        }
        return copy
    }
}

/// What an identity is made of: each piece with its length, so that no two lists of pieces look the same.
private struct Digest {
    private var bytes: [UInt8] = []

    mutating func add(_ text: String) {
        bytes += "\(text.utf8.count):".utf8
        bytes += text.utf8
    }

    mutating func add(_ headers: HTTPHeaders) {
        for field in headers {
            add(field.name.rawValue.lowercased())
            add(field.value)
        }
    }

    mutating func add(_ body: HTTPBody) {
        guard !body.isEmpty else { return }
        add(body.headers)
        if let data = try? body.data() {
            bytes += SHA256.digest(of: data)
        } else {
            add(UUID().uuidString)
        }
    }

    var hexadecimal: String { SHA256.digest(of: bytes).hexadecimal }
}
