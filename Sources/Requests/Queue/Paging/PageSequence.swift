// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The pages of a list, one after the other, each of which is fetched when it is asked for.
///
/// ```swift
/// for try await page in client.pages(Get<[Repo]>("repos")) { show(page) }
/// ```
///
/// ``RequestQueue/pages(_:by:prefetching:session:)`` makes it. Each loop begins with the first page. Leaving the loop,
/// and cancelling its task, cancels what is under way. `prefix(_:)` bounds the number of pages.
public struct PageSequence<R: NetworkRequest, Element: Sendable>: AsyncSequence, Sendable {
    let makeFetcher: @Sendable () -> PageFetcher<R>
    let transform: @Sendable (HTTPResponse<R.Success>) -> Element

    /// The pages, each with its response: status, header fields, metrics.
    public var responses: PageSequence<R, HTTPResponse<R.Success>> {
        PageSequence<R, HTTPResponse<R.Success>>(makeFetcher: makeFetcher) { $0 }
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(fetcher: makeFetcher(), transform: transform) }

    /// Asks for the pages of a ``PageSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        /// Any error: each that a loop throws is one of the request's.
        public typealias Failure = any Error
        fileprivate let fetcher: PageFetcher<R>
        fileprivate let transform: @Sendable (HTTPResponse<R.Success>) -> Element

        /// Fetches the next page; `nil` behind the last one.
        ///
        /// - Throws: The failure of the request for the page. One of the code `pagingFailed` if the page before leads
        ///   nowhere, or to a page that was there before; what the closure of a ``Pagination`` throws. The code is
        ///   `cancelled` in a cancelled task. Behind an error there are no more pages.
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
    /// Nothing is sent before the first page is asked for. Each page is an operation of this queue. What a response
    /// names is never trusted with credentials: if a page leads to another origin, that page and all behind it are
    /// asked for without them, without the query of the client, and with only those header fields that are harmless
    /// there: <doc:SecuringConnections>.
    ///
    /// - Parameters:
    ///   - request: The request for the first page. Later ones are the same request at another address.
    ///   - pagination: The rule for finding the next page; by default the `Link` field of the response (RFC 8288).
    ///   - prefetches: Whether the next page is fetched while one is being used; false by default.
    ///   - session: The transport; `nil`, the default, is the queue's.
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
    /// The environment of the operation of a later page, which changes the address of the request.
    private func environment(for request: some NetworkRequest, at target: PageTarget) -> RequestEnvironment {
        var environment = environment
        let marks = environment.marks(request.resolvedOptions)
        environment.changes.append { [baseURL = environment.baseURL] in
            try $0.retarget(to: target, baseURL: baseURL, marks: marks)
        }
        return environment
    }
}

/// One way through the pages, for one loop.
final class PageFetcher<R: NetworkRequest> {
    /// A page, or its failure, and the address that was asked for it.
    typealias Outcome = (response: Result<HTTPResponse<R.Success>, R.Failure>, asked: URL?)

    private let pagination: Pagination<R>
    private let prefetches: Bool
    private let fetch: @Sendable (R, PageTarget?) async -> Outcome
    /// The request for the next page, and the function that gets it; `nil` behind the last one.
    private var upcoming: (request: R, get: @Sendable () async -> Outcome)?
    private var ahead: Task<Outcome, Never>?
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

    deinit { ahead?.cancel() }

    func next() async throws(R.Failure) -> HTTPResponse<R.Success>? {
        guard let (request, get) = upcoming else { return nil }
        // Behind an error there is nothing.
        upcoming = nil
        let (response, asked) = await get()
        let page = try response.get()
        history.record(asked: asked, answered: page.url)
        do {
            guard let (next, target) = try history.take(pagination.step(page, request), behind: request, page.head) else {
                return page
            }
            upcoming = (next, prepare(next, target))
        } catch {
            // The page itself comes first.
            let failure = page.addContext(to: request.mapError(error))
            upcoming = (request, { (.failure(failure), nil) })
        }
        return page
    }

    private func prepare(_ request: R, _ target: PageTarget?) -> @Sendable () async -> Outcome {
        guard prefetches else { return { [fetch] in await fetch(request, target) } }
        let task = Task { [fetch] in await fetch(request, target) }
        ahead = task
        return { await withTaskCancellationHandler(operation: { await task.value }, onCancel: { task.cancel() }) }
    }
}

extension HTTPResponse {
    /// Adds the request, the response and the transfers to an error that came after the response.
    fileprivate func addContext<Failure: Error>(to failure: Failure) -> Failure {
        let (error, sent) = (failure as? RequestError, transfers.last?.request)
        let detailed = error?.withContext(request: sent, response: head, body: Data(), transfers: transfers)
        return detailed as? Failure ?? failure
    }
}

/// The pages that were there, as far as it takes to end a fetcher in circles, and to keep credentials where they belong.
struct PageHistory {
    private var first: Origin?
    private var last: URL?
    /// The longest distance from the first origin so far; from there on, the server has chosen the address.
    private var originChange = OriginChange.none
    // Hashes, whose seed a server doesn't know: it may give a long name to each of endless pages.
    private var visited: Set<Int> = []

    /// Records a page.
    mutating func record(asked: URL?, answered: URL?) {
        first = first ?? (asked ?? answered).map(Origin.init)
        last = answered ?? asked
        for url in [asked, answered] {
            guard let url else { continue }
            originChange = max(originChange, OriginChange(from: first, to: Origin(url)))
            visited.insert(Self.key(of: url))
        }
    }

    /// Takes the step after a page.
    ///
    /// - Returns: The next request, and its address if that is another; `nil` behind the last page.
    /// - Throws: ``RequestError`` of code `pagingFailed`.
    mutating func take<R: NetworkRequest>(
        _ step: Pagination<R>.Step,
        behind request: R,
        _ head: HTTPResponseHead
    ) throws(RequestError) -> (request: R, target: PageTarget?)? {
        switch step {
        case .end:
            return nil
        case .address(let address):
            guard !address.isEmpty, let url = URL(reference: address, of: last) else {
                throw failure("the link “\(address.bareAddress.shortened())” to the next page is no web address", head)
            }
            guard visited.insert(Self.key(of: url)).inserted else {
                throw failure("the link “\(url.redactedDescription)” leads to a page that was there before", head)
            }
            originChange = max(originChange, OriginChange(from: first, to: Origin(url)))
            return (request, .link(url, originChange))
        case .query(let item):
            guard visited.insert("\(item.value ?? "")".hashValue).inserted else {
                throw failure("the parameter “\(item.name.shortened())” names a page that was there before", head)
            }
            return (request, .query(item))
        case .request(let next):
            visited.insert(request.identifier.hashValue)
            guard visited.insert(next.identifier.hashValue).inserted else {
                throw failure("the request for the next page has the identifier of one that was there before", head)
            }
            return (next, nil)
        }
    }

    private func failure(_ reason: String, _ head: HTTPResponseHead) -> RequestError {
        RequestError(.pagingFailed, phase: .validating, reason: reason, response: head)
    }

    private static func key(of url: URL) -> Int { url.withoutFragment.absoluteString.hashValue }
}
