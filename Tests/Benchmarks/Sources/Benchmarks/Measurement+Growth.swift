// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// The same work for a thousand pieces and for ten thousand: more than about ten times the time isn't linear.
extension Measurement {
    static let growth: [Measurement] = growing(1_000) + lines(1_000) + growing(10_000) + lines(10_000)

    private static func growing(_ count: Int) -> [Measurement] {
        let names = (0..<count).map { "name\($0)" }
        return [
            grows("headers", count) { () -> Int in
                var headers = HTTPHeaders()
                for name in names { headers.add("value", for: HTTPField.Name(name)) }
                return headers.count
            },
            grows("headers-merge", count) { () -> Int in
                let headers = HTTPHeaders(names.map { HTTPField(HTTPField.Name($0), "value") })
                var merged = headers
                merged.merge(headers)
                return merged.count
            },
            grows("query", count) { () -> Int in
                let query = Query(names.map { Query.Item($0, value: "a b") })
                return Query(percentEncoded: query.percentEncoded).count
            },
            grows("query-encodable", count) { try QueryEncoder().encode(["list": names]).count },
            grows("query-dictionary", count) {
                try QueryEncoder().encode(Dictionary(uniqueKeysWithValues: names.map { ($0, 1 as Any?) })).count
            },
            grows("form", count) { try HTTPBody.form(["list": names]).data()?.count ?? 0 },
            grows("template", count) { () -> Int in
                let template: URITemplate = "/{?list*}"
                return try template.expand(["list": names]).utf8.count
            },
            grows("template-variables", count) { () -> Int in
                let template = try URITemplate(names.map { "{\($0)}" }.joined())
                let values = names.map { ($0, URITemplate.Value.string("x")) }
                return try template.expand(URITemplate.Variables(Dictionary(uniqueKeysWithValues: values))).utf8.count
            },
            grows("multipart", count) { () -> Int in
                try HTTPBody.multipart { form in
                    for name in names { form.add("value", for: name) }
                }.resolved().length.map(Int.init) ?? 0
            },
            grows("media-type", count) { () -> Int in
                let text = "text/plain" + names.map { "; \($0)=value" }.joined()
                return try MediaType(parsing: text).rawValue.utf8.count
            },
            grows("request", count) { () -> Int in
                var request = HTTPRequest("https://example.com/\(raw: names.joined(separator: "/"))")
                request.query = Query(names.map { Query.Item($0, value: "a b") })
                for name in names { request.headers.add("value", for: HTTPField.Name(name)) }
                return try request.toURLRequest().url?.absoluteString.utf8.count ?? 0
            },
        ]
    }

    /// The time in which operations join the lines of busy categories.
    ///
    /// Their queue is suspended, but that of the last row: on Linux, an `OperationQueue` looks through all that wait at
    /// every addition. The first operation keeps the categories busy, and the release of the client cancels all.
    private static func lines(_ count: Int) -> [Measurement] {
        [
            joins("blocks", count) { client, category, _ in
                client.addOperation(BlockOperation {}, exclusive: [category])
            },
            joins("priorities", count) { client, category, number in
                let priority: Operation.QueuePriority = number < count / 2 ? .low : .high
                client.addRequest(Get<Void>("x").exclusive(category), priority: priority)
            },
            joins("dependencies", count) { client, category, _ in
                let cause = AsynchronousOperation()
                let request = client.addRequest(Get<Void>("x").exclusive(category), dependencies: [cause])
                client.addRequest(Get<Void>("next"), dependencies: [request])
                cause.start()
            },
            joins("groups", count) { client, category, _ in
                client.addGroup([Get<Void>("x")], exclusive: [category])
            },
            joins("categories", count / 100) { client, category, _ in
                let categories = (0..<100).map { RequestOptions.ExclusiveCategory("\(category) \($0)") }
                client.addOperation(BlockOperation {}, exclusive: Set(categories))
            },
            overRunningQueue(count),
            behindOneBareOperation(count),
        ]
    }

    /// The time in which requests join the line of a category over a queue that runs, and are cancelled.
    private static func overRunningQueue(_ count: Int) -> Measurement {
        grows("line-running", count) { () -> Int in
            let (client, category) = (HTTPClient(), RequestOptions.ExclusiveCategory(UUID()))
            client.addOperation(Hold(), exclusive: [category])
            for _ in 0..<count { client.addRequest(Get<Void>("x").exclusive(category)) }
            return client.operations.count
        }
    }

    /// The same number of operations behind one, over Foundation's queue alone.
    private static func behindOneBareOperation(_ count: Int) -> Measurement {
        grows("line-bare", count) { () -> Int in
            let (queue, hold) = (OperationQueue(), Hold())
            queue.addOperation(hold)
            for _ in 0..<count {
                let operation = BareOperation()
                operation.addDependency(hold)
                queue.addOperation(operation)
            }
            defer { queue.cancelAllOperations() }
            return queue.operationCount
        }
    }

    /// An operation that ends when it is cancelled.
    // Sendable: Operation requires restating it; it adds nothing.
    private final class Hold: AsynchronousOperation, @unchecked Sendable {
        override func execute() {}
    }

    private static func joins(
        _ name: String,
        _ count: Int,
        _ add: @escaping @Sendable (HTTPClient, RequestOptions.ExclusiveCategory, Int) -> Void
    ) -> Measurement {
        grows("line-\(name)", count) { () -> Int in
            let (client, category) = (HTTPClient(), RequestOptions.ExclusiveCategory(UUID()))
            client.isSuspended = true
            for number in 0..<count { add(client, category, number) }
            return client.operations.count
        }
    }

    private static func grows(_ name: String, _ count: Int, _ work: @escaping @Sendable () throws -> Int) -> Measurement
    {
        Measurement(name: "\(name)-\(count)") {
            // One run warms up, and each needs a result.
            guard try work() > 0 else { throw CocoaError(.coderInvalidValue) }
            let rounds = 20
            return try Usage.measure(count: rounds) { for _ in 0..<rounds { _ = try work() } }
        }
    }
}
