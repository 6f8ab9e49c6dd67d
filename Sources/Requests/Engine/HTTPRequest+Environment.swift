// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Takes over what the environment says and the request doesn't: the base of its address, query parameters, header
    /// fields; and what its body implies.
    ///
    /// Gives the fields that came from the body, for ``resolveBody(implied:)``.
    ///
    /// - Throws: ``InvalidRequest`` for an address that is none.
    mutating func inherit(_ environment: RequestEnvironment) throws(InvalidRequest) -> HTTPHeaders {
        // Whoever sends again what a redirect led to has chosen the address.
        hasLeftOrigin = false
        var inherited = environment.headers
        if !inherits(from: environment.baseURL) {
            inherited.markSecrets(environment.secretHeaders)
            inherited.removeSecrets()
        }
        if cachePolicy == .useProtocolCachePolicy { cachePolicy = environment.cachePolicy }
        try resolve(baseURL: environment.baseURL, inheriting: environment.query)
        return applyHeaders(of: inherited)
    }
}
