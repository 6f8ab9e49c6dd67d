// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Internal metadata of a request that isn't sent: the source of its URL, the origins on the way to it, and its
    /// credentials.
    struct Notes: Sendable {
        /// Where the URL came from.
        var addressSource = AddressSource.caller
        /// The URL for which the environment and interceptors have added header fields; `nil` if they haven't yet.
        var headerTargetURL: URL?
        /// The largest change of origin on the way from the first URL, even if redirects have returned to the first
        /// origin.
        ///
        /// The request stores the change because it can't be derived from the sent requests: a response from a cache
        /// has none.
        var originChange = OriginChange.none
        /// The names of the header fields that were removed when the request moved to its current origin.
        var withheldHeaders: [HTTPField.Name] = []
        /// For each interceptor, the generation of its credentials in this request.
        ///
        /// A rejection applies to these credentials, even if newer ones exist by then.
        var credentialGenerations: [ObjectIdentifier: Int] = [:]
    }

    /// The source of a request's URL.
    enum AddressSource: Sendable, Equatable {
        /// The caller chose the URL.
        case caller
        /// The caller chose the URL. Once it is complete, this query parameter replaces all parameters of the same
        /// name.
        case parameter(Query.Item)
        /// A response contained the URL as a link. The value is the largest change of origin on the way to it.
        case link(OriginChange)
    }
}
