// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

@testable import RequestsTesting

extension ReceivedRequest {
    /// Returns a request as a server receives it, for tests without a socket.
    static func sample(_ method: HTTPMethod = .get, headers: HTTPHeaders = []) -> ReceivedRequest {
        ReceivedRequest(target: "/", method: method, headers: headers, body: Data())
    }
}
