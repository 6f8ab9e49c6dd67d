// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLSessionConfiguration {
    /// The header fields of every request of the session; Foundation keeps neither their order nor fields of the same
    /// name apart.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(self) }
        set { httpAdditionalHeaders = newValue.isEmpty ? nil : newValue.dictionary }
    }
}

extension HTTPHeaders {
    /// Takes over the additional header fields of a session, in alphabetical order.
    public init(_ configuration: URLSessionConfiguration) {
        let fields = configuration.httpAdditionalHeaders ?? [:]
        self.init(Dictionary(fields.map { ("\($0.key)", "\($0.value)") }) { first, _ in first })
    }
}
