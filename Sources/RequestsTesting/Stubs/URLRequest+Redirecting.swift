// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

#if canImport(ObjectiveC)
extension URLRequest {
    /// The request that a session makes of a redirect (RFC 9110, 15.4); nil where the response is none.
    func redirected(by head: HTTPResponseHead) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code), let location = head[.location],
            let target = URL(string: location, relativeTo: url)
        else { return nil }
        var result = self
        result.url = target.absoluteURL
        let isPost = httpMethod == "POST" && [301, 302].contains(head.status.code)
        if isPost || (head.status.code == 303 && httpMethod != "HEAD") {
            result.httpMethod = "GET"
            result.httpBody = nil
            result.httpBodyStream = nil
        }
        return result
    }
}
#endif
