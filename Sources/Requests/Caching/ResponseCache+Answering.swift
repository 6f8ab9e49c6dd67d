// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What the pipeline asks of a cache.
///
/// All of it may read or write a file, and calls nobody back but the filter.
extension ResponseCache {
    /// Looks for a response to a request.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent, with all its headers, cookies and credentials.
    ///   - isRetry: Whether the answer before was rejected, which may be the one that is stored.
    /// - Returns: What to do about the request.
    func answer(to request: HTTPRequest, isRetry: Bool = false) -> CacheAnswer {
        let rules = CacheRules(request)
        return rules.answer(with: rules.wantsStored ? find(request) : nil, at: now(), isRetry: isRetry)
    }

    /// What may be given to a caller where a validation failed: no answer came, or one that says that the server failed.
    ///
    /// Nil unless the response or the request allows that with `stale-if-error` (RFC 5861, 4).
    func answer(insteadOfError stored: CachedResponse, for request: HTTPRequest) -> HTTPResponse<Data>? {
        CacheRules(request).answer(insteadOfError: stored, at: now())
    }

    /// The response after a validation that a 304 answered, kept again with what the 304 says.
    ///
    /// A 304 about another response than ours leaves ours as it was, to be asked about again.
    ///
    /// - Parameters:
    ///   - stored: The response that was asked about.
    ///   - head: The head of the 304.
    ///   - request: The request that ``answer(to:)`` was asked about, not the one that it gave.
    ///   - requestedAt: When that was sent.
    ///   - isStoredElsewhere: Whether another request that shares the 304 has it stored.
    /// - Returns: The whole response, for the caller.
    func refresh(
        _ stored: CachedResponse,
        with head: HTTPResponseHead,
        for request: HTTPRequest,
        requestedAt: Date,
        isStoredElsewhere: Bool = false
    ) -> HTTPResponse<Data> {
        guard stored.isMeant(by: head) else {
            let age = Freshness(of: stored, guessing: false, at: now()).age
            return stored.response(from: request.url, age: age)
        }
        let response = HTTPResponse(
            head: HTTPResponseHead(
                status: stored.status,
                headers: stored.headers(validatedBy: head.headers),
                url: request.url
            ),
            body: stored.body
        )
        if !isStoredElsewhere { store(response, for: request, requestedAt: requestedAt) }
        return response
    }

    /// Keeps a response where that is allowed, and else does nothing, or removes what it shows to be over.
    ///
    /// - Parameters:
    ///   - response: The whole response.
    ///   - request: The request that ``answer(to:)`` was asked about, not the one that it gave.
    ///   - requestedAt: When that was sent.
    func store(_ response: HTTPResponse<Data>, for request: HTTPRequest, requestedAt: Date) {
        let rules = CacheRules(request)
        // An answer from elsewhere, which a transport was redirected to, is no answer that this address gives.
        guard rules.concernsCache,
            response.url.map({ CacheKey.address(of: $0) == CacheKey.address(of: request.url) }) ?? true
        else { return }
        if let kept = filter(response, request) {
            let cached = CachedResponse(
                status: kept.status,
                headers: kept.headers,
                body: kept.body,
                requestedAt: requestedAt,
                receivedAt: now()
            )
            if rules.allowsStoring(cached) { return keep(cached, for: request) }
        }
        if rules.replacesStored(response.status) { forget(request) }
    }

    /// Removes what is over since a request that changes something succeeded (RFC 9111, 4.4).
    ///
    /// Does nothing for requests that change nothing, and those that failed.
    func invalidate(after request: HTTPRequest, answeredWith head: HTTPResponseHead) {
        remove(CacheRules(request).invalidated(by: head))
    }

    // MARK: Records

    private func find(_ request: HTTPRequest) -> CachedResponse? {
        switch record(CacheKey(request)) {
        case .response(let response):
            return response
        case .varies(let names):
            guard case .response(let response) = record(CacheKey(request, varyingBy: names)) else { return nil }
            return response
        case nil:
            return nil
        }
    }

    private func record(_ key: CacheKey) -> CacheRecord? {
        let finding = state.withLock { $0.find(key) }
        if let known = finding.record {
            // So that what is used all the time isn't the oldest on the disk.
            files?.touch(key, at: now())
            return known
        }
        guard let record = files?.load(key, at: now()) else { return nil }
        state.withLock { $0.take(record, for: key, after: finding) }
        return record
    }

    private func keep(_ response: CachedResponse, for request: HTTPRequest) {
        let key = CacheKey(request)
        var records = [(key, CacheRecord.response(response))]
        if let names = response.varyingNames, !names.isEmpty {
            // The signpost last: whoever sees it finds where it leads.
            records = [(CacheKey(request, varyingBy: names), .response(response)), (key, .varies(names))]
        }
        for (key, record) in records { save(record, for: key) }
        let time = now()
        let isKept = state.withLock { [records] in $0.keep(records, askedAt: response.requestedAt, now: time) }
        // Only now, since the removal may have come while the files were written, and not have seen them.
        if !isKept { for (key, _) in records { files?.remove(key) } }
    }

    private func save(_ record: CacheRecord, for key: CacheKey) {
        guard let files else { return }
        let bytes = record.bytes(for: key)
        let size = CacheFiles.size(bytes.count)
        let (isAdmitted, hasRoom, disk) = state.withLock { state in
            let isAdmitted = state.disk.admits(size)
            return (isAdmitted, isAdmitted && state.disk.take(size), state.disk)
        }
        guard isAdmitted else { return files.remove(key) }
        if !hasRoom {
            let found = files.sweep(ifAbove: disk.limit - size, downTo: disk.target(for: size), at: now())
            state.withLock { $0.disk.take(size, besides: found) }
        }
        files.save(bytes, as: key, at: now())
    }

    private func forget(_ request: HTTPRequest) {
        let key = CacheKey(request)
        // Twice, since somebody may have read the file while it was still there.
        state.withLock { $0.forget(key) }
        files?.remove(key)
        state.withLock { $0.forget(key) }
    }
}
