// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The pages of a list, each of which is fetched when it is requested.
///
/// ```swift
/// for try await page in client.pages(Get<[Repo]>("repos")) { show(page) }
/// ```
///
/// Create a sequence with ``RequestQueue/pages(_:by:prefetching:session:)``. Each loop begins with the first page.
/// Leaving the loop or cancelling its task cancels the running requests. Use `prefix(_:)` to limit the number of pages.
public struct PageSequence<R: NetworkRequest, Element: Sendable>: AsyncSequence, Sendable {
    let makeFetcher: @Sendable () -> PageFetcher<R>
    let transform: @Sendable (HTTPResponse<R.Success>) -> Element

    /// The pages with their responses, including status, header fields and metrics.
    public var responses: PageSequence<R, HTTPResponse<R.Success>> {
        PageSequence<R, HTTPResponse<R.Success>>(makeFetcher: makeFetcher) { $0 }
    }

    /// Creates an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(fetcher: makeFetcher(), transform: transform) }

    /// Fetches the pages of a ``PageSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        /// The declared error type; every error that a loop throws has the request's error type.
        public typealias Failure = any Error
        fileprivate let fetcher: PageFetcher<R>
        fileprivate let transform: @Sendable (HTTPResponse<R.Success>) -> Element

        /// Fetches the next page; returns `nil` after the last page.
        ///
        /// - Throws: The failure of the page's request; any error that the closure of a ``Pagination`` throws. The code
        ///   is `pagingFailed` if the previous page links to an invalid URL, or to a page that was already fetched. In
        ///   a cancelled task, the code is `cancelled`. After an error, there are no more pages.
        public mutating func next() async throws(R.Failure) -> Element? {
            try await fetcher.next().map(transform)
        }
    }
}

extension RequestQueue {
    /// Fetches a list page by page.
    ///
    /// ```swift
    /// for try await page in client.pages(Get<[Repo]>("repos")) { show(page) }
    /// ```
    ///
    /// Nothing is sent before the first page is requested. Each page is an operation of this queue. The URL of the next
    /// page usually comes from a response, so it isn't trusted. If it has another origin, that page and all later pages
    /// are requested without credentials and without the query of the client. Of the header fields, those that are safe
    /// to send to any origin stay; see <doc:SecuringConnections>.
    ///
    /// - Parameters:
    ///   - request: The request for the first page. Later pages use the same request with another URL.
    ///   - pagination: The rule for finding the next page; by default, the `Link` field of the response (RFC 8288).
    ///   - prefetches: Whether the next page is fetched while the current page is being used; `false` by default.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    /// - Returns: The pages.
    public func pages<R: NetworkRequest>(
        _ request: R,
        by pagination: Pagination<R> = .links,
        prefetching prefetches: Bool = false,
        session: (any HTTPTransport)? = nil
    ) -> PageSequence<R, R.Success> {
        let makeFetcher: @Sendable () -> PageFetcher<R> = {
            PageFetcher(from: request, by: pagination, prefetching: prefetches) { request, target in
                let environment = target.map { self.environment(for: request, at: $0) }
                return await self.exchange(request, in: environment, session: session)
            }
        }
        return PageSequence(makeFetcher: makeFetcher) { $0.body }
    }
}

extension RequestQueue {
    /// Returns the environment for fetching a later page, which replaces the request's URL with the URL of the page.
    private func environment(for request: some NetworkRequest, at target: PageTarget) -> RequestEnvironment {
        var environment = environment
        let marks = environment.marks(request.resolvedOptions)
        environment.changes.append { [baseURL = environment.baseURL] in
            try $0.retarget(to: target, baseURL: baseURL, marks: marks)
        }
        return environment
    }
}

/// The state of one loop over the pages: the next request, and the pages fetched so far.
final class PageFetcher<R: NetworkRequest> {
    /// A page or its failure, and the URL that was first requested for it.
    typealias Outcome = (response: Result<HTTPResponse<R.Success>, R.Failure>, firstURL: URL?)

    private let pagination: Pagination<R>
    private let prefetches: Bool
    private let fetch: @Sendable (R, PageTarget?) async -> Outcome
    /// The request for the next page, and the function that fetches the page; `nil` after the last page.
    private var upcoming: (request: R, fetchPage: @Sendable () async -> Outcome)?
    private var prefetch: Task<Outcome, Never>?
    private var history = PageHistory()

    init(
        from first: R,
        by pagination: Pagination<R>,
        prefetching prefetches: Bool,
        _ fetch: @escaping @Sendable (R, PageTarget?) async -> Outcome
    ) {
        (self.pagination, self.prefetches, self.fetch) = (pagination, prefetches, fetch)
        upcoming = (first, { await fetch(first, nil) })
    }

    deinit { prefetch?.cancel() }

    func next() async throws(R.Failure) -> HTTPResponse<R.Success>? {
        guard let (request, fetchPage) = upcoming else { return nil }
        // After an error, there is no next page.
        upcoming = nil
        let (response, firstURL) = await fetchPage()
        let page = try response.get()
        history.record(firstURL: firstURL, finalURL: page.url)
        do {
            guard let (next, target) = try history.apply(pagination.step(page, request), after: request, page.head)
            else {
                return page
            }
            upcoming = (next, prepare(next, target))
        } catch {
            // The current page is still valid, so the error is delivered instead of the next page.
            let failure = page.addContext(to: request.mapError(error))
            upcoming = (request, { (.failure(failure), nil) })
        }
        return page
    }

    private func prepare(_ request: R, _ target: PageTarget?) -> @Sendable () async -> Outcome {
        guard prefetches else { return { [fetch] in await fetch(request, target) } }
        let task = Task { [fetch] in await fetch(request, target) }
        prefetch = task
        return { await withTaskCancellationHandler(operation: { await task.value }, onCancel: { task.cancel() }) }
    }
}

extension HTTPResponse {
    /// Adds the request, the response and the transfers to an error that occurred after the response.
    fileprivate func addContext<Failure: Error>(to failure: Failure) -> Failure {
        let (error, sent) = (failure as? RequestError, transfers.last?.request)
        let detailed = error?.withContext(request: sent, response: head, body: Data(), transfers: transfers)
        return detailed as? Failure ?? failure
    }
}

/// The pages that were fetched, to detect cycles and to restrict credentials to the first origin.
struct PageHistory {
    private var firstOrigin: Origin?
    private var lastURL: URL?
    /// The largest change of origin so far, because once a page has left the first origin, the server controls the URL.
    private var originChange = OriginChange.none
    // Only hashes are stored, because a server may send endless pages with long URLs. The hash seed is random, so the
    // server can't provoke collisions.
    private var visited: Set<Int> = []

    /// Records the first and the final URL of a page.
    mutating func record(firstURL: URL?, finalURL: URL?) {
        firstOrigin = firstOrigin ?? (firstURL ?? finalURL).map(Origin.init)
        lastURL = finalURL ?? firstURL
        for url in [firstURL, finalURL] {
            guard let url else { continue }
            originChange = max(originChange, OriginChange(from: firstOrigin, to: Origin(url)))
            visited.insert(Self.key(of: url))
        }
    }

    /// Applies the step that follows a page.
    ///
    /// - Returns: The next request and, if its URL differs, the target; `nil` after the last page.
    /// - Throws: A ``RequestError`` with the code `pagingFailed`.
    mutating func apply<R: NetworkRequest>(
        _ step: Pagination<R>.Step,
        after request: R,
        _ head: HTTPResponseHead
    ) throws(RequestError) -> (request: R, target: PageTarget?)? {
        switch step {
        case .end:
            return nil
        case .address(let address):
            guard !address.isEmpty, let url = URL(reference: address, of: lastURL) else {
                throw failure(
                    "the link “\(address.bareAddress.shortened())” to the next page isn't an http or https URL",
                    head
                )
            }
            guard visited.insert(Self.key(of: url)).inserted else {
                throw failure("the link “\(url.redactedDescription)” leads back to an earlier page", head)
            }
            originChange = max(originChange, OriginChange(from: firstOrigin, to: Origin(url)))
            return (request, .link(url, originChange))
        case .query(let item):
            guard visited.insert("\(item.value ?? "")".hashValue).inserted else {
                throw failure("the parameter “\(item.name.shortened())” leads back to an earlier page", head)
            }
            return (request, .query(item))
        case .request(let next):
            visited.insert(request.identifier.hashValue)
            guard visited.insert(next.identifier.hashValue).inserted else {
                throw failure("the request for the next page has the same identifier as an earlier one", head)
            }
            return (next, nil)
        }
    }

    private func failure(_ reason: String, _ head: HTTPResponseHead) -> RequestError {
        RequestError(.pagingFailed, phase: .validating, reason: reason, response: head)
    }

    private static func key(of url: URL) -> Int { url.withoutFragment.absoluteString.hashValue }
}
