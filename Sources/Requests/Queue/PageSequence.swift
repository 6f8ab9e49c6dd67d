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
    let source: PageSource<R>
    let transform: @Sendable (HTTPResponse<R.Success>) -> Element

    /// The pages, each with its response: status, header fields, metrics.
    public var responses: PageSequence<R, HTTPResponse<R.Success>> {
        PageSequence<R, HTTPResponse<R.Success>>(source: source) { $0 }
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(walk: PageWalk(source), transform: transform) }

    /// Asks for the pages of a ``PageSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        /// Any error: each that a loop throws is one of the request's.
        public typealias Failure = any Error
        fileprivate let walk: PageWalk<R>
        fileprivate let transform: @Sendable (HTTPResponse<R.Success>) -> Element

        /// Fetches the next page; `nil` behind the last one.
        ///
        /// - Throws: The failure of the request for the page. One of the code `pagingFailed` if the page before leads
        ///   nowhere, or to a page that was there before; what the closure of a ``Pagination`` throws. The code is
        ///   `cancelled` in a cancelled task. Behind an error there are no more pages.
        public mutating func next() async throws(R.Failure) -> Element? {
            try await walk.next().map(transform)
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
    /// asked for without them, and without the query and the secret fields that the request would inherit from a
    /// client.
    ///
    /// - Parameters:
    ///   - request: The request for the first page. Later ones are the same request at another address.
    ///   - pagination: How the next page is found; by default by the `Link` field of the response (RFC 8288).
    ///   - prefetches: Whether the next page is fetched while one is being used; false by default.
    ///   - session: What carries the requests; `nil`, the default, is the queue's transport.
    /// - Returns: The pages.
    public func pages<R: NetworkRequest>(
        _ request: R,
        by pagination: Pagination<R> = .links,
        prefetching prefetches: Bool = false,
        session: (any HTTPTransport)? = nil
    ) -> PageSequence<R, R.Success> {
        let source = PageSource(first: request, pagination: pagination, prefetches: prefetches) { request, target in
            await self.exchange(request, in: target.map { self.environment(for: request, at: $0) }, session: session)
        }
        return PageSequence(source: source) { $0.body }
    }
}

extension RequestQueue {
    /// The environment of the operation of a later page, which changes the address of the request.
    private func environment(for request: some NetworkRequest, at target: PageTarget) -> RequestEnvironment {
        var environment = environment
        let secrets = environment.secretHeaders.union(request.resolvedOptions.secretHeaders)
        environment.changes.append { [baseURL = environment.baseURL] in
            try $0.turn(to: target, baseURL: baseURL, secrets: secrets)
        }
        return environment
    }
}

/// The source of pages.
struct PageSource<R: NetworkRequest>: Sendable {
    /// A page, or its failure, and the address that was asked for it.
    typealias Outcome = (response: Result<HTTPResponse<R.Success>, R.Failure>, asked: URL?)

    let first: R
    let pagination: Pagination<R>
    let prefetches: Bool
    let fetch: @Sendable (R, PageTarget?) async -> Outcome
}

/// One way through the pages, for one loop.
final class PageWalk<R: NetworkRequest> {
    private enum State {
        /// A page is to be fetched.
        case due(R, PageTarget?)
        /// A page is being fetched.
        case fetching(R, Task<PageSource<R>.Outcome, Never>)
        /// The page before leads to none.
        case failed(R.Failure)
        case over
    }

    private let source: PageSource<R>
    private var state: State
    private var trail = PageTrail()

    init(_ source: PageSource<R>) {
        self.source = source
        state = .due(source.first, nil)
    }

    deinit {
        if case .fetching(_, let task) = state { task.cancel() }
    }

    func next() async throws(R.Failure) -> HTTPResponse<R.Success>? {
        let present = state
        // Behind an error there is nothing.
        state = .over
        switch present {
        case .due(let request, let target):
            return try advance(behind: await source.fetch(request, target), to: request)
        case .fetching(let request, let task):
            let outcome = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            return try advance(behind: outcome, to: request)
        case .failed(let error): throw error
        case .over: return nil
        }
    }

    private func advance(
        behind outcome: PageSource<R>.Outcome,
        to request: R
    ) throws(R.Failure) -> HTTPResponse<R.Success> {
        let page = try outcome.response.get()
        trail.record(asked: outcome.asked, answered: page.url)
        do {
            state = try next(after: page, of: request)
        } catch {
            state = .failed(request.mapError(error))
        }
        return page
    }

    private func next(after page: HTTPResponse<R.Success>, of request: R) throws -> State {
        let (next, target): (R, PageTarget?)
        switch try source.pagination.step(page, request) {
        case .end: return .over
        case .address(let address): (next, target) = (request, try trail.link(to: address, in: page.head))
        case .query(let item): (next, target) = (request, try trail.query(item, in: page.head))
        case .request(let other): (next, target) = (try trail.request(other, after: request, in: page.head), nil)
        }
        guard source.prefetches else { return .due(next, target) }
        return .fetching(next, Task { [source] in await source.fetch(next, target) })
    }
}

/// The pages that were there, as far as it takes to end a walk in circles, and to keep credentials where they belong.
struct PageTrail {
    private var first: Origin?
    private var last: URL?
    /// Whether a page has led to another origin: whatever it leads to is its choice.
    private var hasLeftOrigin = false
    // Hashes, whose seed a server doesn't know: it may give a long name to each of endless pages.
    private var visited: Set<Int> = []

    /// Records a page.
    mutating func record(asked: URL?, answered: URL?) {
        first = first ?? (asked ?? answered).map(Origin.init)
        last = answered ?? asked
        for url in [asked, answered] {
            guard let url else { continue }
            if Origin(url) != first { hasLeftOrigin = true }
            visited.insert(Self.key(of: url))
        }
    }

    /// Goes on to an address that the last page names.
    ///
    /// - Throws: ``RequestError`` of code `pagingFailed`.
    mutating func link(to address: String, in head: HTTPResponseHead) throws(RequestError) -> PageTarget {
        guard !address.isEmpty, let url = URL(reference: address, of: last) else {
            throw failure("the link “\(address.bareAddress.shortened())” to the next page is no web address", head)
        }
        guard visited.insert(Self.key(of: url)).inserted else {
            throw failure("the link “\(url.redactedDescription)” leads to a page that was there before", head)
        }
        if Origin(url) != first { hasLeftOrigin = true }
        return .link(url, isForeign: hasLeftOrigin)
    }

    /// Goes on to the page that a parameter names.
    ///
    /// - Throws: ``RequestError`` of code `pagingFailed`.
    mutating func query(_ item: Query.Item, in head: HTTPResponseHead) throws(RequestError) -> PageTarget {
        guard visited.insert("\(item.value ?? "")".hashValue).inserted else {
            throw failure("the parameter “\(item.name.shortened())” names a page that was there before", head)
        }
        return .query(item)
    }

    /// Goes on to the page that a request asks for.
    ///
    /// - Throws: ``RequestError`` of code `pagingFailed`.
    mutating func request<R: NetworkRequest>(
        _ next: R,
        after request: R,
        in head: HTTPResponseHead
    ) throws(RequestError) -> R {
        visited.insert(request.identifier.hashValue)
        guard visited.insert(next.identifier.hashValue).inserted else {
            throw failure("the request for the next page has the identifier of one that was there before", head)
        }
        return next
    }

    private func failure(_ reason: String, _ head: HTTPResponseHead) -> RequestError {
        RequestError(.pagingFailed, phase: .validating, reason: reason, response: head)
    }

    private static func key(of url: URL) -> Int { url.withoutFragment.absoluteString.hashValue }
}
