// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension URLError {
    /// The error that a session reports for one of a stub: the stub's own where that is Foundation's.
    init(_ error: RequestError, at url: URL?) {
        if let own = error.underlying as? URLError {
            self = own
            return
        }
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.reason ?? error.description]
        if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
        self.init(Self.code(of: error), userInfo: userInfo)
    }

    private static func code(of error: RequestError) -> URLError.Code {
        switch error.code {
        case .cancelled: .cancelled
        case .timedOut, .deadlineExceeded: .timedOut
        case .offline: .notConnectedToInternet
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .badResponse: .cannotParseResponse
        case .untrusted: .secureConnectionFailed
        case .unsupported: .cannotLoadFromNetwork
        default: .unknown
        }
    }
}
