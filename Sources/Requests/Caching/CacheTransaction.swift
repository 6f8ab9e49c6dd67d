// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One request's use of a cache: its rules, and its user, which are determined once.
///
/// All methods may read or write a file, and call no caller's code except the filter.
struct CacheTransaction: Sendable {
    /// The request as it would be sent, with all its headers, cookies and credentials.
    let request: HTTPRequest
    private let cache: ResponseCache
    private let identity: ResponseCache.Identity.Parts
    private let rules: CacheRules
    /// The number of the last removal at the beginning; see ``CacheState``.
    private let removal: Int

    /// Begins to use a cache.
    init(of cache: ResponseCache, by request: HTTPRequest, _ policy: ResponseCache.Policy) {
        self.request = request
        self.cache = cache
        identity = cache.identity.parts(of: request)
        rules = CacheRules(request, hasUser: identity.hasUser, policy)
        removal = cache.state.withLock { $0.lastRemoval }
    }

    /// The name of the stored response; other users of the address have another one.
    var name: String { key().name }

    private func key(varyingBy names: [HTTPField.Name] = []) -> CacheKey {
        CacheKey(request, identity, varyingBy: names)
    }

    // MARK: Answering

    /// Looks for a response; a retry gets none if it may be sent, since the stored one may have been rejected.
    func decision(isRetry: Bool) -> CacheDecision {
        rules.answer(with: rules.wantsStored ? stored : nil, at: cache.now(), isRetry: isRetry)
    }

    private var stored: CachedResponse? {
        let record = cache.record(key(), since: removal)
        guard case .varies(let names) = record else { return record?.response }
        return cache.record(key(varyingBy: names), since: removal)?.response
    }

    /// The response for a caller if a validation failed: there was no answer, or one that reports a server failure.
    ///
    /// It is `nil` unless the response or the request allows that with `stale-if-error` (RFC 5861, 4).
    func answer(insteadOfError stored: CachedResponse) -> HTTPResponse<Data>? {
        rules.answer(insteadOfError: stored, at: cache.now())
    }

    // MARK: Storing

    /// Stores a response if that is allowed; otherwise does nothing, or removes the stored one that it shows to be
    /// outdated.
    ///
    /// - Parameters:
    ///   - response: The whole response.
    ///   - requestedAt: The time at which the request for it was sent.
    func store(_ response: HTTPResponse<Data>, requestedAt: Date) {
        // A response from another address, to which a transport was redirected, isn't the answer of this address.
        guard rules.concernsCache,
            response.url.map({ CacheKey.address(of: $0) == CacheKey.address(of: request.url) }) ?? true
        else { return }
        if let kept = cache.filter(response, request) {
            let cached = CachedResponse(
                status: kept.status,
                headers: kept.headers,
                body: kept.body,
                requestedAt: requestedAt,
                receivedAt: cache.now()
            )
            if rules.allowsStoring(cached) { return keep(cached) }
        }
        if rules.replacesStored(response.status) { cache.forget(key()) }
    }

    private func keep(_ response: CachedResponse) {
        var records = [(key(), CacheRecord.response(response))]
        if let names = response.varyingNames, !names.isEmpty {
            // The reference last: a reader that sees it also finds its target.
            records = [(key(varyingBy: names), .response(response)), (key(), .varies(names))]
        }
        cache.keep(records, since: removal)
        if !identity.variant.isEmpty { cache.limitVariants(of: key()) }
    }
}
