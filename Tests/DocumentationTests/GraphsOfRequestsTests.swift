// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The article *Graphs of requests*.
@Suite(.bounded) struct GraphsOfRequestsTests {
    struct User: Decodable, Sendable { let id: String }

    struct UserRequest: RequestSpec {
        let name: String
        var request: Get<User> { Get("users", name) }
    }

    struct RepositoriesRequest: RequestSpec {
        let owner: String
        var request: Get<[String]> { Get("users", owner, "repositories") }
    }

    struct IssuesRequest: RequestSpec {
        let repository: String
        init(_ repository: String) { self.repository = repository }
        var request: Get<[String]> { Get("repositories", repository, "issues") }
    }

    struct ReportRequest: RequestSpec {
        let counts: [Int]
        var request: Post<Void> { Post<Void>("reports").body(.json(counts)) }
    }

    private let transport = InMemoryTransport { request in
        switch request.url.path {
        case "/users/ada": .json(#"{"id": "ada"}"#)
        case "/users/ada/repositories": .json(#"["requests", "swift-nio"]"#)
        case "/repositories/requests/issues": .json(#"["a", "b"]"#)
        case "/repositories/swift-nio/issues": .json(#"["c"]"#)
        case "/reports": .status(.noContent)
        default: .status(.notFound)
        }
    }

    private var queue: HTTPClient {
        HTTPClient(baseURL: URL(string: "https://example.com"), maxConcurrentRequests: 1, transport: transport)
    }

    @Test func graphFansOutAndIn() async throws {
        let queue = queue

        let user = queue.addRequest(UserRequest(name: "ada"))
        let repositories = queue.addRequest(after: user) { RepositoriesRequest(owner: $0.id) }
        let issues = queue.addGroup(after: repositories) { $0.map(IssuesRequest.init) }
        let report = queue.addRequest(after: issues) { ReportRequest(counts: $0.map(\.count)) }

        let partial = queue.addRequest(after: issues.outcomes) { results in
            ReportRequest(counts: results.compactMap { try? $0.get().count })
        }

        let strict = queue.addGroup(after: repositories, failingFast: true) { $0.map(IssuesRequest.init) }

        try await report.value()
        try await partial.value()
        #expect(try await strict.value() == [["a", "b"], ["c"]])
        #expect(report.request?.counts == [2, 1] && partial.request?.counts == [2, 1])
    }

    @Test func requestDependsOnSeveralOperations() async throws {
        let queue = queue
        let user = queue.addRequest(UserRequest(name: "ada"))
        let issues = queue.addGroup([IssuesRequest("requests"), IssuesRequest("swift-nio")])

        let summary = queue.addRequest(after: user, issues) { user, issues in
            ReportRequest(counts: [user.id.count] + issues.map(\.count))
        }
        queue.addRequests(UserRequest(name: "ada"), IssuesRequest("requests")) { user, issues in
            print((try? user.get().id) ?? "-", (try? issues.get().count) ?? 0)
        }

        try await summary.value()
        #expect(summary.request?.counts == [3, 2, 1])
    }

    @Test func requestDependsOnArrayOfOperations() async throws {
        let queue = queue

        let operations = ["requests", "swift-nio"].map { queue.addRequest(IssuesRequest($0)) }
        queue.addRequest(ReportRequest(counts: []), dependencies: operations)

        let all = queue.addOperationGroup { _ in
            var counts: [Int] = []
            for operation in operations { counts.append(try await operation.value().count) }
            return counts
        }
        let total = queue.addRequest(after: all) { ReportRequest(counts: $0) }

        try await total.value()
        #expect(total.request?.counts == [2, 1])
    }

    @Test func graphIsRenderedAsInArticle() async throws {
        let transport = ManualTransport()
        let address = URL(string: "https://example.com")
        let queue = HTTPClient(baseURL: address, maxConcurrentRequests: 1, transport: transport)
        let user = queue.addRequest(UserRequest(name: "ada"))
        let repositories = queue.addRequest(after: user) { RepositoriesRequest(owner: $0.id) }
        let issues = queue.addGroup(after: repositories) { $0.map(IssuesRequest.init) }
        let report = queue.addRequest(after: issues) { ReportRequest(counts: $0.map(\.count)) }

        for (index, answer) in [#"{"id": "ada"}"#, #"["requests", "swift-nio"]"#].enumerated() {
            let transfer = try await transport.awaitTransfer(count: index + 1)
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.data(Data(answer.utf8)))
            transfer.receive(.end(nil))
        }
        _ = try await transport.awaitTransfer(count: 3)

        let drawn = """
            0 waiting   RequestGroup<IssuesRequest>, after 4, of 2 3
            1 waiting   ReportRequest, after 0
            2 executing IssuesRequest GET repositories/requests/issues
            3 ready     IssuesRequest GET repositories/swift-nio/issues
            4 finished  RepositoriesRequest GET users/ada/repositories

            """
        try await eventually { queue.graph().description == drawn }
        for operation in [issues, report] as [Operation] { operation.cancel() }
    }

    @Test func groupGrows() async throws {
        let queue = queue
        let user = queue.addRequest(UserRequest(name: "ada"))

        let sync = queue.addOperationGroup(after: user) { group, user in
            let repositories = try await group.fetch(RepositoriesRequest(owner: user.id))
            for repository in repositories { group.addRequest(IssuesRequest(repository)) }
            group.addOperation(BlockOperation { print("\(repositories.count) repositories") })
            return repositories.count
        }

        #expect(try await sync.value() == 2)
    }

    final class Crawl: AsynchronousOperation, @unchecked Sendable {
        let depth: Int
        init(depth: Int) { self.depth = depth }

        override func execute() {
            if depth > 0 { produce(Crawl(depth: depth - 1)) }
            finish()
        }
    }

    @Test func operationProducesOthers() async throws {
        let group = queue.addOperationGroup { group in group.addOperation(Crawl(depth: 3)) }

        try await group.value()
        #expect(group.operations.isEmpty)
    }

    @Test func exclusiveRequestsDoNotOverlap() async throws {
        let (queue, ran) = (queue, Locked(false))
        let migration = BlockOperation { ran.withLock { $0 = true } }

        queue.addOperation(migration, exclusive: ["database"])
        queue.addGroup([IssuesRequest("requests"), IssuesRequest("swift-nio")], exclusive: ["database"])
        queue.addRequest(Post<Void>("reports").exclusive("database", "reports"))

        try await eventually { queue.operations.isEmpty }
        #expect(ran.withLock { $0 })
    }
}
