// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Tells the fields of a request that are its own from those that it was given on behalf of an origin.
///
/// Its own are those that it was described with, and those of its own authentication. The others come from the
/// environment and from interceptors, and their secrets are for the origin that the request had then.
struct OwnFields: Sendable {
    /// What the request was described with.
    let described: HTTPHeaders
    /// What the environment has for every request.
    let inherited: HTTPHeaders
    /// What the request had when only its own authentication had come to what it inherits; nil before that.
    var authenticated: HTTPHeaders?

    func contains(_ field: HTTPField) -> Bool {
        described.contains(field) || authenticated?.contains(field) == true && !inherited.contains(field)
    }
}

extension HTTPRequest {
    /// Sees to the secrets after somebody has changed the request: what was marked stays marked, and where the change
    /// leads to another origin, secrets that the request had before, and that aren't its own, don't go there.
    ///
    /// - Parameters:
    ///   - former: The request before the change.
    ///   - own: The fields that go where the request goes.
    ///   - baseURL: What a relative address is appended to.
    /// - Complexity: O(n) in the number of fields, as long as the origin is the same.
    mutating func keepSecrets(of former: HTTPRequest, own: OwnFields, baseURL: URL?) {
        headers.markSecrets(former.headers.markedSecrets)
        // To compare addresses is cheaper than to take them apart, and nearly always enough.
        if case .url(let url) = address, case .url(let other) = former.address, url == other { return }
        guard origin(in: baseURL) != former.origin(in: baseURL) else { return }
        let dropped = former.headers.secrets.filter { !own.contains($0) }
        headers.removeAll { dropped.contains($0) }
        // What answers now hasn't seen the credentials, and its refusal says nothing about them.
        credentialGenerations = credentialGenerations.filter { former.credentialGenerations[$0.key] != $0.value }
    }
}
