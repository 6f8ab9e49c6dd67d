// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One request on its way: the first try, a redirect, or a retry.
///
/// A class, since it goes through many hands, and three requests are much to copy each time.
final class Hop: Sendable {
    /// What was asked for: what a redirect is made from, and validators are told of.
    let asked: HTTPRequest
    // Nil where nothing was added: most requests go out as they were asked for.
    private let withCookies: HTTPRequest?
    private let withConditions: HTTPRequest?
    /// The response that the cache has, and asks about.
    let stored: CachedResponse?
    /// Why it is sent.
    let cause: Attempt.Cause

    init(
        _ asked: HTTPRequest,
        complete: HTTPRequest? = nil,
        outgoing: HTTPRequest? = nil,
        stored: CachedResponse? = nil,
        cause: Attempt.Cause
    ) {
        self.asked = asked
        withCookies = complete
        withConditions = outgoing
        self.stored = stored
        self.cause = cause
    }

    /// The same with the cookies for its address: what a cache goes by.
    var complete: HTTPRequest { withCookies ?? asked }
    /// What is sent: the same with the conditions that a cache adds.
    var outgoing: HTTPRequest { withConditions ?? complete }
}

extension HTTPRequest {
    /// The request with the cookies for its address besides those that it has, which go before any of the same name;
    /// nil where there are none.
    func addingCookies(of storage: any CookieStorage) -> HTTPRequest? {
        guard let field = storage.field(for: url) else { return nil }
        var request = self
        request.add(field)
        return request
    }

    private mutating func add(_ field: HTTPField) {
        let own = headers[values: .cookie]
        guard !own.isEmpty else { return headers.add(field) }
        let names = Set(own.flatMap { Cookie.list(parsing: $0) }.map(\.name))
        let others = Cookie.list(parsing: field.value).filter { !names.contains($0.name) }.map(\.rawValue)
        headers.set(HTTPField(.cookie, (own + others).joined(separator: "; ")))
    }
}
