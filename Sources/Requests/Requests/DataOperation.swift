// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``DataRequest``: collects the content in memory, up to the limit, and has the request process it.
// Sendable: Operation demands that it be restated; nothing is added here.
open class DataOperation<R: DataRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// Has the request process the response.
    ///
    /// - Throws: What the request throws.
    open override func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        guard let request else { return try super.process(response) }
        return try request.process(response)
    }
}
