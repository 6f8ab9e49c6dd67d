// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Internal metadata of a request, never sent: where its URL came from, how its origin has changed, and its
    /// credentials.
    struct Notes: Sendable {
        /// Where the URL came from.
        var addressSource = AddressSource.caller
        /// The URL for which the environment and interceptors have added header fields; `nil` if they haven't yet.
        var headerTargetURL: URL?
        /// The largest change of origin since the first URL, even if redirects have returned to the first origin.
        ///
        /// The request stores the change because it can't be derived from the requests that were sent: no request is
        /// sent if a cache supplies the redirect.
        var originChange = OriginChange.none
        /// The names of the header fields that were removed when the request moved to its current origin.
        var withheldHeaders: [HTTPField.Name] = []
        /// For each interceptor, the generation of the credentials that it added to this request.
        ///
        /// A rejection applies to these credentials, even if newer credentials exist by then.
        var credentialGenerations: [ObjectIdentifier: Int] = [:]
    }

    /// The source of a request's URL.
    enum AddressSource: Sendable, Equatable {
        /// The caller chose the URL.
        case caller
        /// The caller chose the URL. Once it is complete, this query parameter replaces all parameters of the same
        /// name.
        case parameter(Query.Item)
        /// The URL is a link from a response. The value is the largest change of origin along the chain of URLs that
        /// led to it.
        case link(OriginChange)
    }
}
