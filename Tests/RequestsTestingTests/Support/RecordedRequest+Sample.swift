// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

@testable import RequestsTesting

extension RecordedRequest {
    /// Returns a request as a server records it, for tests without a socket.
    static func sample(_ method: HTTPMethod = .get, headers: HTTPHeaders = []) -> RecordedRequest {
        RecordedRequest(
            method: method,
            target: "/",
            version: "HTTP/1.1",
            headers: headers,
            body: Data(),
            trailers: [],
            rawBytes: Data(),
            connection: 0,
            index: 0
        )
    }
}
