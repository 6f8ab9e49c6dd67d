// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The use of a cache by one request, with the request's rules and user.
///
/// All methods may read or write a file. The only code of the caller that they run is the cache's filter.
struct CacheTransaction: Sendable {
    /// The request as it would be sent, with all headers, cookies and credentials.
    let request: HTTPRequest
    private let cache: ResponseCache
    private let identity: ResponseCache.Identity.Parts
    private let rules: CacheRules
    /// The number of the last removal when the transaction started; see ``CacheState``.
    private let lastRemoval: Int

    /// Starts to use a cache.
    init(of cache: ResponseCache, by request: HTTPRequest, _ policy: ResponseCache.Policy) {
        self.request = request
        self.cache = cache
        identity = cache.identity.parts(of: request)
        rules = CacheRules(request, hasUser: identity.hasUser, policy)
        lastRemoval = cache.state.withLock { $0.lastRemoval }
    }

    /// The file name of the stored response; responses to different users of a URL have different names.
    var name: String { key().name }

    private func key(varyingBy names: [HTTPField.Name] = []) -> CacheKey {
        CacheKey(request, identity, varyingBy: names)
    }

    // MARK: Reading

    /// Decides how to handle the request, given the stored response, if any.
    ///
    /// A retry is sent if possible, because the stored response may have been rejected.
    func decision(isRetry: Bool) -> CacheDecision {
        rules.decision(with: rules.allowsStoredResponse ? stored : nil, at: cache.now(), isRetry: isRetry)
    }

    private var stored: CachedResponse? {
        let record = cache.record(key(), since: lastRemoval)
        guard case .varies(let names) = record else { return record?.response }
        return cache.record(key(varyingBy: names), since: lastRemoval)?.response
    }

    /// Returns the stored response for the caller, after its validation got no response or a server failure.
    ///
    /// Returns `nil` unless the server or the request allows this with `stale-if-error` (RFC 5861, 4).
    func staleResponse(insteadOfError stored: CachedResponse) -> HTTPResponse<Data>? {
        rules.staleResponse(insteadOfError: stored, at: cache.now())
    }

    // MARK: Storing

    /// Stores a response if that is allowed.
    ///
    /// Otherwise, removes the stored response if it is outdated.
    ///
    /// - Parameters:
    ///   - response: The complete response.
    ///   - requestedAt: The time when the request was sent.
    func store(_ response: HTTPResponse<Data>, requestedAt: Date) {
        // If the transport followed a redirect, the response belongs to another URL and isn't stored.
        guard rules.isCacheableRequest,
            response.url.map({ CacheKey.address(of: $0) == CacheKey.address(of: request.url) }) ?? true
        else { return }
        if let filtered = cache.filter(response, request) {
            let cached = CachedResponse(
                status: filtered.status,
                headers: filtered.headers,
                body: filtered.body,
                requestedAt: requestedAt,
                receivedAt: cache.now()
            )
            if rules.allowsStoring(cached) { return save(cached) }
        }
        if rules.outdatesStored(response.status) { cache.forget(key()) }
    }

    private func save(_ response: CachedResponse) {
        var records = [(key(), CacheRecord.response(response))]
        if let names = response.varyingNames, !names.isEmpty {
            // Write the reference last, so that a reader who sees it also finds its target.
            records = [(key(varyingBy: names), .response(response)), (key(), .varies(names))]
        }
        cache.store(records, since: lastRemoval)
        if !identity.variant.isEmpty { cache.limitVariants(of: key()) }
    }
}
