// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension WebSocket {
    /// A WebSocket message: text or bytes.
    public enum Message: Sendable, Hashable {
        /// Text, which is sent as UTF-8.
        case text(String)
        /// Bytes.
        case data(Data)

        /// The text; `nil` for bytes.
        public var text: String? {
            if case .text(let text) = self { text } else { nil }
        }

        /// The bytes; for text, its UTF-8 encoding.
        public var data: Data {
            switch self {
            case .text(let text): Data(text.utf8)
            case .data(let data): data
            }
        }

        /// The number of bytes of the content.
        var count: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .data(let data): data.count
            }
        }
    }
}
