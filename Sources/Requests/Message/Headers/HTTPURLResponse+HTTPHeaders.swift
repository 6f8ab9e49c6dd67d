// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPURLResponse {
    /// The header fields; Foundation keeps neither their order nor fields of the same name apart.
    public var headers: HTTPHeaders { HTTPHeaders(self) }
}

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation response.
    public init(_ response: HTTPURLResponse) {
        self.init(
            response.allHeaderFields.compactMap { key, value in
                guard let name = key as? String else { return nil }
                return HTTPField(HTTPField.Name(name), value as? String ?? "\(value)")
            }
        )
    }
}
