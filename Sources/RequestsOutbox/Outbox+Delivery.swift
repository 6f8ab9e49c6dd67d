// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// An entry that was sent, together with its response.
    public struct Delivery<R: NetworkRequest>: Sendable {
        /// The entry.
        public let entry: Entry
        /// The request.
        public let request: R
        /// The response, whose body is the decoded value.
        public let response: HTTPResponse<R.Success>
    }
}
