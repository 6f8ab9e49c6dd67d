// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// What the library knows about a request besides what is sent: where its address comes from, the origins on its
    /// way, and its credentials.
    struct Notes: Sendable {
        /// The source of the address.
        var addressSource = AddressSource.caller
        /// The address that the environment and interceptors have added fields for; `nil` before that.
        var headerTargetURL: URL?
        /// How far redirects have led from the first origin on the way, even if they have led back.
        ///
        /// It is stored in the request rather than derived from sent requests, because a response from a cache isn't
        /// sent.
        var originChange = OriginChange.none
        /// The names of the fields that stayed behind when the request came to its current origin.
        var withheldHeaders: [HTTPField.Name] = []
        /// The generations of the credentials that the request carries, by interceptor: a rejection concerns these,
        /// rather than the current ones.
        var credentialGenerations: [ObjectIdentifier: Int] = [:]
    }

    /// The source of the address.
    enum AddressSource: Sendable, Equatable {
        /// The caller.
        case caller
        /// The caller, except for a query parameter, which replaces all of its name when the address is complete.
        case parameter(Query.Item)
        /// A response that links to it, at some distance from the first origin on the way.
        case link(OriginChange)
    }
}
