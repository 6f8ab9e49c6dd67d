// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a debugger and `dump` show of the library's objects.
///
/// Foundation's operations, queues and sessions can't be reflected safely while they run. On Linux an operation has a
/// closure that the runtime can't copy, and pointers that may be dangling, so `dump` ends the process there.
@Suite(.bounded) struct ReflectionTests {
    private static let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) })

    private static func objects() async throws -> [(name: String, object: Any)] {
        let request = Get<Data>("\(raw: home.absoluteString)")
        let suspended = OperationQueue()
        suspended.isSuspended = true
        defer { suspended.cancelAllOperations() }
        var environment = RequestEnvironment()
        environment.cookies = FoundationCookieStorage(HTTPCookieStorage.shared)
        environment.hostLimiter = HostLimiter(limit: 1)
        let operation = client.addRequest(request)
        _ = try await operation.value()
        return [
            ("operation", operation),
            ("waiting operation", suspended.addRequest(request)),
            ("download", client.addRequest(Download(HTTPRequest(url: home)))),
            ("group", client.addGroup([request])),
            ("group of operations", client.addOperationGroup { (_: any RequestQueue) in }),
            ("client", client),
            ("client of a queue", HTTPClient(queue: suspended)),
            ("session transport", URLSessionTransport(configuration: .ephemeral)),
            ("curl transport", CurlTransport()),
            ("pages", client.pages(Get<[Int]>("numbers"))),
            ("pages of a queue", suspended.pages(Get<[Int]>("numbers"))),
            ("events", suspended.serverSentEvents(request)),
            ("graph", suspended.graph()),
            ("environment", environment),
            ("request", request),
            ("modified request", request.deadline(.seconds(1)).tag("a")),
            ("cookie storage", FoundationCookieStorage(HTTPCookieStorage.shared)),
            ("connectivity", Connectivity.system),
            ("recording monitor", RecordingMonitor()),
        ]
    }

    /// Returns the path and type of the first Foundation object that a mirror reaches.
    private func foundationsObject(in value: Any, path: String, depth: Int = 12) -> String? {
        guard depth > 0 else { return nil }
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            if current.subjectType is NSObject.Type, current.superclassMirror != nil {
                return "\(path): \(current.subjectType) with its ancestors"
            }
            for (index, child) in current.children.enumerated() {
                let path = "\(path).\(child.label ?? "\(index)")"
                let isOurs = String(reflecting: type(of: child.value)).contains("Requests.")
                if !isOurs, type(of: child.value) is NSObject.Type { return "\(path): \(type(of: child.value))" }
                if isOurs, let found = foundationsObject(in: child.value, path: path, depth: depth - 1) { return found }
            }
            mirror = current.superclassMirror
        }
        return nil
    }

    @Test func dumpDoesNotReachFoundationObjects() async throws {
        for (name, object) in try await Self.objects() {
            #expect(foundationsObject(in: object, path: name) == nil)
        }
    }

    @Test func operationDumpShowsState() async throws {
        let operation = Self.client.addRequest(Get<Data>("\(raw: home.absoluteString)"))
        _ = try await operation.value()
        await operation.end()

        var text = ""
        dump(operation, to: &text)

        #expect(text.contains("isFinished: true"))
        #expect(text.contains("isCancelled: false"))
    }

    // Until an operation has finished, Foundation keeps a closure there that the runtime of Swift 6.3 can't copy.
    @Test func dumpingWaitingOperationDoesNotCrash() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operations = (0..<3).map { _ in
            queue.addRequest(Get<Data>("\(raw: home.absoluteString)"), session: InMemoryTransport { _ in .status(.ok) })
        }
        defer { for operation in operations { operation.cancel() } }

        var text = ""
        dump(operations, to: &text)

        #expect(text.contains("isExecuting: false"))
    }

    @Test func printedEventsAndMessagesShowTheirContent() {
        let event = ServerSentEvent(data: "a new recipe", id: "7")

        #expect(
            "\(event)" == #"ServerSentEvent(event: "message", data: "a new recipe", id: Optional("7"), retry: nil)"#
        )
        #expect("\(WebSocket.Message.text("a new recipe"))" == #"text("a new recipe")"#)
    }

    @Test func printedValidationContextShowsItsRequest() async throws {
        let texts = Recorder<String>()
        let request = Get<Void>("\(raw: home.absoluteString)").validating { response, context in
            texts.record("\(context)")
            return .accept
        }

        try await Self.client.fetch(request)

        #expect(texts.elements.first?.hasPrefix("ValidationContext(request: GET https://example.com/recipes/1") == true)
    }
}
