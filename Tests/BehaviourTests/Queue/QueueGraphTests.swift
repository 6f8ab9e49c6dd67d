// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct QueueGraphTests {
    typealias Node = QueueGraph.Node
    typealias Edge = QueueGraph.Edge

    private func label(_ text: String) -> String? {
        let graph = QueueGraph(nodes: [Node(type: "T", identifier: text, state: .ready)], edges: [])
        let line = graph.mermaid.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().first
        let (start, end) = ("    n0[\"T<br/>", "<br/>ready\"]:::ready")
        guard let line, line.hasPrefix(start), line.hasSuffix(end) else { return nil }
        return String(line.dropFirst(start.count).dropLast(end.count))
    }

    @Test func diagramsOmitDigests() throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        defer { queue.isSuspended = false }
        let operation = queue.addRequest(Get<Int>("https://example.com/a"))
        defer { operation.cancel() }

        let identifier = try #require(queue.graph().nodes.first?.identifier)
        let picture = queue.graph().mermaid + queue.graph().description

        #expect(identifier.contains(/[0-9a-f]{64}/))
        #expect(picture.contains("example.com") && !picture.contains(/[0-9a-f]{32}/))
    }

    // MARK: The snapshot

    @Test func graphShowsStatesAndDependencies() async {
        let queue = TestQueue(isSuspended: true)
        var options = RequestOptions()
        options.tag = "start"
        let login = queue.addRequest(TextRequest(identifier: "login", options: options))
        let profile = queue.addRequest(after: login) { _ in WireRequest() }
        let plain = BlockOperation {}
        plain.name = "show"
        plain.addDependency(profile)
        queue.addOperation(plain)

        let graph = queue.graph()

        #expect(
            graph.nodes == [
                Node(type: "TextRequest", identifier: "login", tag: "start", state: .ready),
                Node(type: "WireRequest", state: .waiting),
                Node(type: "BlockOperation", name: "show", state: .waiting),
            ]
        )
        #expect(graph.edges == [Edge(from: 0, to: 1), Edge(from: 1, to: 2)])
        queue.base.cancelAllOperations()
    }

    @Test func nodesUseTypeNamesAsWrittenInSource() {
        enum Shop: RequestProviding {
            case live
            var baseURL: URL { home }
        }
        let queue = TestQueue(isSuspended: true)
        queue.addRequest(Get<String>("a"))
        queue.addRequest(Post<Void>("a"))
        queue.addRequest(Shop.live.get(.json([Int].self), from: "/a"))
        queue.addRequest(HTTPRequest(url: home))

        let types = queue.graph().nodes.map(\.type)

        #expect(types == ["Get<String>", "Post<Void>", "APIRequest<Shop, Array<Int>>", "HTTPRequest"])
        queue.base.cancelAllOperations()
    }

    @Test func groupHasMembershipEdges() {
        let queue = TestQueue(isSuspended: true)
        queue.addGroup([TextRequest(identifier: "1"), TextRequest(identifier: "2")])

        let graph = queue.graph()

        #expect(graph.nodes.map(\.type) == ["TextRequest", "TextRequest", "RequestGroup<TextRequest>"])
        #expect(graph.edges == [0, 1].map { Edge(from: $0, to: 2, kind: .membership) })
        queue.base.cancelAllOperations()
    }

    @Test func dependenciesOutsideQueueAreShown() async {
        let other = TestQueue(isSuspended: true)
        let elsewhere = other.addRequest(TextRequest(identifier: "elsewhere"))
        let done = TestQueue().addRequest(TextRequest(identifier: "done"))
        let failed = TestQueue(InMemoryTransport { _ in .status(500) }).addRequest(TextRequest(identifier: "failed"))
        let cancelled = other.addRequest(TextRequest(identifier: "cancelled"))
        cancelled.cancel()
        for operation in [done, failed] { await operation.end() }
        let queue = TestQueue(isSuspended: true)
        queue.addRequest(TextRequest(identifier: "last"), dependencies: [done, failed, cancelled, elsewhere])

        let graph = queue.graph()

        #expect(graph.nodes.map(\.identifier) == ["last", "done", "failed", "cancelled", "elsewhere"])
        #expect(graph.nodes.map(\.state) == [.waiting, .finished, .failed, .cancelled, .ready])
        #expect(graph.edges == (1...4).map { Edge(from: $0, to: 0) })
        for queue in [queue, other] { queue.base.cancelAllOperations() }
    }

    @Test func runningOperationIsShownAsExecuting() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        queue.addRequest(TextRequest())
        await sent.first(1)

        #expect(queue.graph().nodes.map(\.state) == [.executing])
        queue.base.cancelAllOperations()
    }

    @Test func cancelledPlainOperationIsShownAsCancelled() {
        let queue = TestQueue(isSuspended: true)
        let operation = BlockOperation {}
        queue.addOperation(operation)

        operation.cancel()

        #expect(queue.graph().nodes.map(\.state) == [.cancelled])
    }

    @Test func diamondGraphHasNoDuplicateNodes() {
        let queue = TestQueue(isSuspended: true)
        let top = BlockOperation {}
        let sides = (0..<100).map { _ in BlockOperation {} }
        let bottom = BlockOperation {}
        for side in sides {
            side.addDependency(top)
            bottom.addDependency(side)
        }
        queue.addOperation(bottom)

        let graph = queue.graph()

        #expect(graph.nodes.count == 102 && graph.edges.count == 200)
        queue.base.cancelAllOperations()
    }

    @Test func longChainDoesNotOverflowStack() {
        let queue = TestQueue(isSuspended: true)
        let operations = (0..<Scale.requests).map { _ in AsynchronousOperation() }
        for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
        queue.addOperation(operations[Scale.requests - 1])

        let graph = queue.graph()

        #expect(graph.nodes.count == Scale.requests)
        #expect(graph.edges == (1..<Scale.requests).map { Edge(from: $0, to: $0 - 1) })
        // From the end, so that deallocation doesn't recurse either.
        for operation in operations.reversed() { operation.dependencies.forEach(operation.removeDependency) }
        queue.base.cancelAllOperations()
    }

    // MARK: The picture

    @Test func diagramLabelsDescribeOperations() {
        let graph = QueueGraph(
            nodes: [
                Node(type: "Login", name: "sign in", identifier: "ada", tag: "start", state: .finished),
                Node(type: "Profile", state: .executing),
                Node(type: "Show", state: .waiting),
            ],
            edges: [Edge(from: 0, to: 1), Edge(from: 1, to: 2), Edge(from: 0, to: 2)]
        )

        #expect(
            graph.mermaid == """
                flowchart LR
                    n0["Login<br/>sign in<br/>ada<br/>start<br/>finished"]:::finished
                    n1["Profile<br/>executing"]:::executing
                    n2["Show<br/>waiting"]:::waiting
                    n0 --> n1
                    n1 --> n2
                    n0 --> n2
                    classDef waiting fill:#eeeeee,stroke:#888888,color:#000
                    classDef executing fill:#cfe2ff,stroke:#0d6efd,color:#000
                    classDef finished fill:#d1e7dd,stroke:#198754,color:#000

                """
        )
    }

    @Test func emptyQueueHasEmptyDiagram() {
        #expect(TestQueue().graph().mermaid == "flowchart LR\n")
    }

    @Test(arguments: QueueGraph.State.allCases) func statesHaveStyles(_ state: QueueGraph.State) {
        let graph = QueueGraph(nodes: [Node(type: "T", state: state)], edges: [])

        #expect(graph.mermaid.contains("n0[\"T<br/>\(state)\"]:::\(state)\n    classDef \(state) fill:#"))
    }

    @Test func danglingEdgesAreOmitted() {
        let node = Node(type: "T", state: .ready)
        let graph = QueueGraph(
            nodes: [node],
            edges: [Edge(from: 0, to: 1), Edge(from: -1, to: 0), Edge(from: 0, to: 0)]
        )

        #expect(graph.mermaid.contains("\n    n0 --> n0\n    classDef"))
    }

    static let texts = [
        ("plain text 1", "plain text 1"), ("Grüße 日本語", "Grüße 日本語"), ("end", "end"), ("", ""),
        (#"a"]; click n0 "javascript:alert(1)"#, "a#34;#93;#59; click n0 #34;javascript#58;alert#40;1#41;"),
        ("a\nn1[x]", "a#92;nn1#91;x#93;"), ("a\r\n%% b", "a#92;r#92;n#37;#37; b"),
        ("<script>", "#60;script#62;"), ("#quot;", "#35;quot#59;"), ("&lt;", "#38;lt#59;"), ("a::b", "a#58;#58;b"),
        ("%%{init: {}}%%", "#37;#37;#123;init#58; #123;#125;#125;#37;#37;"), ("`**md**`", "#96;#42;#42;md#42;#42;#96;"),
        ("1. list", "1#46; list"), ("DataOperation<A>", "DataOperation#60;A#62;"), ("🍎", "#127822;"),
        ("e\u{301}", "e#769;"), ("ab\u{202E}cd\u{2028}", "ab#92;u#123;202E#125;cd#92;u#123;2028#125;"),
        ("\u{0}\u{7F}", "#92;0#92;u#123;7F#125;"),
    ]

    @Test(arguments: texts) func labelsAreEscaped(text: String, expected: String) {
        #expect(label(text) == expected)
    }

    @Test func longLabelIsTruncated() {
        #expect(label(String(repeating: "a", count: 100_000)) == String(repeating: "a", count: 64) + "#8230;")
    }
}

@Suite(.bounded) struct QueueGraphFuzzTests {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 #;".utf8)

    @Test func randomLabelsAreEscaped() {
        var fuzz = Fuzz()
        let pieces = ["\"", "]", "[", "\n", "#", ";", ":::", "<br/>", "-->", "end", "%%{", "}%%", "click", "\r", "🍎"]
        for _ in 0..<Scale.fuzz(weight: 10) {
            let node = QueueGraph.Node(
                type: fuzz.text(of: pieces),
                name: fuzz.text(of: pieces),
                identifier: fuzz.text(of: pieces),
                tag: fuzz.text(of: pieces),
                state: .failed
            )
            let lines = QueueGraph(nodes: [node], edges: []).mermaid.split(separator: "\n")
            guard lines.count == 3 else {
                Issue.record("\(lines.count) lines, seed \(Fuzz.seed)")
                return
            }

            let label = lines[1].dropFirst("    n0[\"".count).dropLast("\"]:::failed".count)
            let rest = label.replacingOccurrences(of: "<br/>", with: "").utf8.filter {
                $0 < 0x80 && !Self.plain.contains($0)
            }
            #expect(rest.isEmpty, "seed \(Fuzz.seed)")
            // A combining letter after a break would hide it from a search by characters.
            #expect(label.unicodeScalars.count { $0 == "<" } == 4, "seed \(Fuzz.seed)")
        }
    }
}
