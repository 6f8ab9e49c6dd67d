// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct PagingTests {
    struct Listing: Codable, Equatable, Sendable {
        var items: [Int] = []
        var next: URL?
        var cursor: String?
    }

    struct Failure: Error {}

    final class Counted: DataOperation<LinkedRequest>, @unchecked Sendable {
        override func prepare(_ request: inout HTTPRequest) throws { request.headers["X-Counted"] = "yes" }
    }

    struct LinkedRequest: DataRequest {
        typealias OperationType = Counted
        typealias Success = Data
        typealias Failure = RequestError
        var identifier: String { "linked" }
        func makeURLRequest(completion: @escaping BuildCompletion) {
            completion(.success(URLRequest(url: PagingTests.api.appending(path: "items"))))
        }
        func processData(_ data: Data) -> Data { data }
    }

    private static let api = URL(string: "https://api.example.com/v1")!

    /// Pages of two elements, linked by `Link`, like those of most APIs.
    private static func linked(pages: Int = 3, path: String = "/v1/items") -> InMemoryTransport {
        InMemoryTransport { request in
            let page = Query(percentEncoded: request.url.query() ?? "")["page"].flatMap { Int($0) } ?? 1
            let links = page < pages ? #"<\#(path)?page=\#(page + 1)>; rel="next", <\#(path)>; rel="first""# : ""
            let body = Data("[\(page * 2 - 1), \(page * 2)]".utf8)
            return .status(.ok, headers: links.isEmpty ? [] : [.link: links], body: body)
        }
    }

    private func client(
        _ transport: any HTTPTransport,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient(baseURL: Self.api, transport: transport, configure)
    }

    private func collect<R: NetworkRequest, Page>(
        _ pages: PageSequence<R, Page>
    ) async -> (pages: [Page], error: R.Failure?) {
        var all: [Page] = []
        do {
            for try await page in pages { all.append(page) }
        } catch {
            return (all, error as? R.Failure)
        }
        return (all, nil)
    }

    // MARK: Finding pages

    @Test(arguments: [false, true]) func followsNextLinks(prefetches: Bool) async {
        let transport = Self.linked()
        let (pages, error) = await collect(client(transport).pages(Get<[Int]>("items"), prefetching: prefetches))

        #expect(pages == [[1, 2], [3, 4], [5, 6]] && error == nil)
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "https://api.example.com/v1/items", "https://api.example.com/v1/items?page=2",
                "https://api.example.com/v1/items?page=3",
            ]
        )
    }

    @Test func pagesProvideTheirResponses() async throws {
        var links: [URL?] = []
        for try await response in client(Self.linked(pages: 2)).pages(Get<[Int]>("items")).responses {
            links.append(response.link("next"))
        }

        #expect(links.map { $0?.query() } == ["page=2", nil])
    }

    @Test func followsPreviousLinks() async {
        let transport = InMemoryTransport { request in
            let isFirst = request.url.query() == "page=2"
            return .status(
                .ok,
                headers: isFirst ? [.link: "<?page=1>; rel=prev, <?page=3>; rel=next"] : [],
                body: Data("[]".utf8)
            )
        }
        let request = Get<[Int]>("items").query(["page": 2])
        _ = await collect(client(transport).pages(request, by: .links("prev")))

        #expect(transport.requests.map { $0.url.query() } == ["page=2", "page=1"])
    }

    @Test func followsURLInBody() async throws {
        let answers = [
            "{\"items\": [1], \"next\": \"/v1/items?after=1\"}", "{\"items\": [2], \"next\": \"?after=2\"}",
            "{\"items\": [3]}",
        ]
        let transport = InMemoryTransport.answering(answers.map { .json($0) })
        let (pages, error) = await collect(client(transport).pages(Get<Listing>("items"), by: .following(\.body.next)))

        #expect(pages.flatMap(\.items) == [1, 2, 3] && error == nil)
        #expect(transport.requests.map { $0.url.query() } == [nil, "after=1", "after=2"])
        #expect(transport.requests.allSatisfy { $0.url.path == "/v1/items" })
    }

    @Test(arguments: ["{\"items\": [3]}", "{\"items\": [3], \"cursor\": \"\"}"])
    func followsURLStringInBody(last: String) async throws {
        let answers = ["{\"items\": [1], \"cursor\": \"?after=a%26b\"}", "{\"items\": [2], \"cursor\": \"/v2/items\"}"]
        let transport = InMemoryTransport.answering((answers + [last]).map { .json($0) })
        let rule = Pagination<Get<Listing>>.following(\.body.cursor)
        let (pages, error) = await collect(client(transport).pages(Get<Listing>("items"), by: rule))

        #expect(pages.flatMap(\.items) == [1, 2, 3] && error == nil)
        #expect(transport.requests.map(\.url.path) == ["/v1/items", "/v1/items", "/v2/items"])
        #expect(transport.requests.map { $0.url.query() } == [nil, "after=a%26b", nil])
    }

    @Test(arguments: ["{\"items\": [3]}", "{\"items\": [3], \"cursor\": \"\"}"])
    func followsCursorInBody(last: String) async throws {
        let transport = InMemoryTransport.answering([
            .json("{\"items\": [1], \"cursor\": \"a&b=c\"}"), .json("{\"items\": [2], \"cursor\": \"+\"}"), .json(last),
        ])
        let request = Get<Listing>("items").query(["limit": 1, "cursor": "start"])
        let (pages, error) = await collect(
            client(transport).pages(request, by: .cursor(\.body.cursor, parameter: "cursor"))
        )

        #expect(pages.flatMap(\.items) == [1, 2, 3] && error == nil)
        #expect(
            transport.requests.map { $0.url.query() } == [
                "limit=1&cursor=start", "limit=1&cursor=a%26b%3Dc", "limit=1&cursor=%2B",
            ]
        )
    }

    struct Start: Encodable, Sendable {
        var cursor = "start"
        var limit = 1
    }

    /// A custom request with the parameter in its URL.
    struct Recorded: DecodableRequest, ModifiableRequest {
        typealias Success = Listing
        typealias Failure = RequestError
        var identifier: String { "recorded" }
        var options = RequestOptions()
        func makeURLRequest(completion: @escaping BuildCompletion) {
            let address = PagingTests.api.appending(path: "items").appending(queryItems: [
                URLQueryItem(name: "cursor", value: "start")
            ])
            completion(.success(URLRequest(url: address)))
        }
    }

    /// Returns the parameters `cursor` of all pages of a request.
    private func cursors<R: NetworkRequest>(
        _ request: R,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async -> [[String]] where R.Success == Listing {
        let transport = InMemoryTransport.answering([
            .json("{\"items\": [1], \"cursor\": \"a&b=c\"}"), .json("{\"items\": [2], \"cursor\": \"+\"}"),
            .json("{\"items\": [3]}"),
        ])
        let pages = client(transport, configure).pages(request, by: .cursor(\.body.cursor, parameter: "cursor"))
        #expect(await collect(pages).pages.count == 3)
        return transport.requests.map { Query(percentEncoded: $0.url.query() ?? "")[values: "cursor"] }
    }

    @Test func cursorReplacesExistingParameter() async {
        let next = [["a&b=c"], ["+"]]
        let address = Self.api.appending(path: "items").appending(queryItems: [
            URLQueryItem(name: "cursor", value: "start")
        ])

        #expect(await cursors(Get<Listing>("items?limit=1&cursor=start")) == [["start"]] + next)
        #expect(await cursors(Get<Listing>(address)) == [["start"]] + next)
        #expect(await cursors(Get<Listing>("items").query(Start())) == [["start"]] + next)
        #expect(await cursors(Get<Listing>("items")) { $0.query = ["cursor": "start"] } == [["start"]] + next)
        #expect(await cursors(Recorded().query(["cursor": "more"])) == [["start", "more"]] + next)
        #expect(await cursors(Get<Listing>("items?%63ursor=start&cursor")) == [["start"]] + next)
        #expect(await cursors(Get<Listing>("items")) == [[]] + next)
    }

    @Test func closureCreatesNextRequest() async throws {
        let transport = InMemoryTransport.answering([.json("[1, 2]"), .json("[3]"), .json("[]")])
        let first = Post<[Int]>("search").body { ["offset": 0] }
        let pages = client(transport).pages(
            first,
            by: .next { page, request in
                page.body.isEmpty ? nil : request.body(.json(["last": page.body.last ?? 0]))
            }
        )

        #expect(await collect(pages).pages == [[1, 2], [3], []])
        #expect(
            transport.requests.map(\.text) == [
                #"{"offset":0}"#, #"{"last":2}"#, #"{"last":3}"#,
            ]
        )
    }

    @Test func iterationStartsAtFirstPage() async {
        let transport = Self.linked(pages: 2)
        let pages = client(transport).pages(Get<[Int]>("items"))

        #expect(await collect(pages).pages == [[1, 2], [3, 4]])
        #expect(await collect(pages).pages == [[1, 2], [3, 4]])
        #expect(transport.requests.count == 4)
    }

    // MARK: Operations

    @Test func pagesUseCustomOperationClass() async throws {
        let transport = Self.linked()
        let (pages, error) = await collect(TestQueue(transport).pages(LinkedRequest()))

        #expect(pages.count == 3 && error == nil)
        #expect(transport.requests.allSatisfy { $0.headers["X-Counted"] == "yes" })
    }

    @Test func pagesAreFetchedLazily() async throws {
        let transport = Self.linked()
        let pages = client(transport).pages(Get<[Int]>("items"))
        #expect(transport.requests.isEmpty)

        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(transport.requests.count == 1)
        for try await _ in pages.prefix(2) {}
        #expect(transport.requests.count == 3)
    }

    @Test func prefetchedPageIsCancelledWithLoop() async throws {
        let transport = ManualTransport()
        let client = client(transport)
        func walk() async throws {
            var iterator = client.pages(Get<[Int]>("items"), prefetching: true).makeAsyncIterator()
            let answering = Task {
                let transfer = try await transport.awaitTransfer()
                transfer.receive(
                    .head(
                        HTTPResponseHead(
                            status: .ok,
                            headers: [.link: "<?page=2>; rel=next"],
                            url: transfer.request.url
                        )
                    )
                )
                transfer.receive(.data(Data("[1]".utf8)))
                transfer.receive(.end(nil))
            }
            #expect(try await iterator.next() == [1])
            try await answering.value
            let ahead = try await transport.awaitTransfer(count: 2)
            #expect(ahead.request.url.query() == "page=2")
        }
        try await walk()

        let ahead = try await transport.awaitTransfer(count: 2)
        try await ahead.awaitCancel()
        ahead.receive(.end(RequestError(.cancelled, phase: .sending)))
        #expect(transport.transfers.count == 2)
    }

    @Test(arguments: [false, true]) func cancelledTaskCancelsPage(prefetches: Bool) async throws {
        let transport = ManualTransport()
        let client = client(transport)
        let task = Task { await collect(client.pages(Get<[Int]>("items"), prefetching: prefetches)) }
        let transfer = try await transport.awaitTransfer()
        task.cancel()
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))

        #expect(await task.value.error?.code == .cancelled)
    }

    @Test func mockQueueCanServePages() async {
        final class CannedQueue: RequestQueue {
            var operations: [Operation] { [] }
            let count = Locked(0)
            func addOperation(_ operation: Operation) {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let head = HTTPResponseHead(
                    status: .ok,
                    headers: number < 3 ? [.link: "<https://h/\(number)>; rel=next"] : []
                )
                (operation as? NetworkOperation<Get<[Int]>>)?.finish(with: HTTPResponse(head: head, body: [number]))
            }
        }

        #expect(await collect(CannedQueue().pages(Get<[Int]>("items"))).pages == [[1], [2], [3]])
    }

    // MARK: Failures

    @Test(
        arguments: [
            ("<?page=1>; rel=next", 1), ("<>; rel=next", 1), ("<#top>; rel=next", 1), ("<javascript:x>; rel=next", 1),
            ("<https://>; rel=next", 1),
        ] as [(String, Int)]
    )
    func invalidOrCircularLinkFails(link: String, count: Int) async {
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.link: link], body: Data("[1]".utf8)) }
        let request = Get<[Int]>("items").query(["page": 1])
        let (pages, error) = await collect(client(transport).pages(request))

        // The valid page is returned first.
        #expect(pages.count == count && transport.requests.count == count)
        #expect(error?.code == .pagingFailed && error?.response?.status == .ok)
    }

    @Test func pageCycleFails() async {
        let transport = InMemoryTransport { request in
            let page = request.url.query() == "page=2" ? 1 : 2
            return .status(.ok, headers: [.link: "<?page=\(page)&token=hidden>; rel=next"], body: Data("[1]".utf8))
        }
        let (pages, error) = await collect(client(transport).pages(Get<[Int]>("items")))

        #expect(pages.count < 4 && error?.code == .pagingFailed)
        #expect(error.map { "\($0)".contains("hidden") } == false)
    }

    @Test func repeatedCursorFails() async {
        let transport = InMemoryTransport { _ in .json("{\"items\": [1], \"cursor\": \"a\"}") }
        let (pages, error) = await collect(
            client(transport).pages(Get<Listing>("items"), by: .cursor(\.body.cursor, parameter: "cursor"))
        )

        #expect(pages.count == 2 && error?.code == .pagingFailed)
    }

    @Test func closureReturningSameRequestFails() async {
        let transport = InMemoryTransport { _ in .json("[1]") }
        let (pages, error) = await collect(client(transport).pages(Get<[Int]>("items"), by: .next { $1 }))

        #expect(pages.count == 1 && error?.code == .pagingFailed)
    }

    @Test func pageErrorEndsLoopAfterValidPages() async throws {
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: [.link: "<?page=2>; rel=next"], body: Data("[1]".utf8)), .status(.forbidden),
        ])
        var iterator = client(transport).pages(Get<[Int]>("items")).makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func errorThrownByClosureFailsRequest() async {
        let transport = InMemoryTransport { _ in .json("[1]") }
        let (pages, error) = await collect(
            client(transport).pages(Get<[Int]>("items"), by: .next { _, _ in throw Failure() })
        )

        #expect(pages.count == 1 && error?.underlying is Failure)
    }
}
