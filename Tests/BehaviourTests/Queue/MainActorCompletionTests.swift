// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The user interface of an application, like a view controller. Closures on the queue `.main` may use it.
@MainActor private final class Screen {
    var lines: [String] = []

    func show(_ line: String) {
        MainActor.preconditionIsolated()
        lines.append(line)
    }
}

@Suite(.bounded) struct MainActorCompletionTests {
    private static let base = URL(string: "http://api.example")
    private static let client = HTTPClient(
        baseURL: base,
        transport: InMemoryTransport { request in .text(request.url.lastPathComponent) }
    )

    /// A function that takes a closure for `.main`, and returns the operation to wait for.
    struct Door: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: [String]
        let enter: @MainActor @Sendable (HTTPClient, _ show: @escaping @MainActor (String) -> Void) -> Operation

        static let all: [Door] = [
            Door(testDescription: "addRequest", expected: ["a"]) { client, show in
                client.addRequest(Get<String>("a"), completionQueue: .main) { show((try? $0.get()) ?? "error") }
            },
            Door(testDescription: "addRequest of a service", expected: ["a"]) { client, show in
                Service(client: client).addRequest(Get<String>("a"), completionQueue: .main) {
                    show((try? $0.get()) ?? "error")
                }
            },
            Door(testDescription: "send", expected: ["a 200"]) { client, show in
                client.send(Get<String>("a"), completionQueue: .main) { result in
                    if case .success(let response) = result { show("\(response.body) \(response.status.code)") }
                }
            },
            Door(testDescription: "makeOperation", expected: ["a"]) { client, show in
                let operation = client.makeOperation(for: Get<String>("a"), completionQueue: .main) {
                    show((try? $0.get()) ?? "error")
                }
                client.addOperation(operation)
                return operation
            },
            Door(testDescription: "a chain", expected: ["ab"]) { client, show in
                let first = client.addRequest(Get<String>("a"))
                return client.addRequest(after: first, completionQueue: .main) {
                    Get<String>("\($0)b")
                } completion: {
                    show((try? $0.get()) ?? "error")
                }
            },
            Door(testDescription: "a chain of any error", expected: ["error"]) { client, show in
                client.addRequest(after: client.addRequest(Get<Int>("a")), completionQueue: .main) { _ in
                    AnyFailure()
                } completion: {
                    show((try? $0.get()) ?? "error")
                }
            },
            Door(testDescription: "a chain of an error type", expected: ["dependencyFailed"]) { client, show in
                client.addRequest(
                    after: client.addRequest(Get<Int>("a")),
                    completionQueue: .main,
                    mapError: { OwnFailure(code: RequestError($0).code.name) },
                    make: { _ in OwnFailing() },
                    completion: { if case .failure(let error) = $0 { show(error.code) } }
                )
            },
            Door(testDescription: "a group", expected: ["a b"]) { client, show in
                client.addGroup([Get<String>("a"), Get<String>("b")], completionQueue: .main) {
                    show($0.compactMap { try? $0.get() }.joined(separator: " "))
                }
            },
            Door(testDescription: "a group behind an operation", expected: ["a1 a2"]) { client, show in
                client.addGroup(after: client.addRequest(Get<String>("a")), completionQueue: .main) { name in
                    [Get<String>("\(name)1"), Get<String>("\(name)2")]
                } completion: {
                    show((try? $0.get())?.joined(separator: " ") ?? "error")
                }
            },
            Door(testDescription: "requests of several types", expected: ["a 1"]) { client, show in
                client.addRequests(Get<String>("a"), Get<Data>("b"), completionQueue: .main) { text, data in
                    show("\((try? text.get()) ?? "") \((try? data.get())?.count ?? 0)")
                }
            },
            Door(testDescription: "a group of operations", expected: ["a"]) { client, show in
                client.addOperationGroup(completionQueue: .main) { group in
                    try await group.fetch(Get<String>("a"))
                } completion: {
                    show((try? $0.get()) ?? "error")
                }
            },
            Door(testDescription: "addCompletion", expected: ["a"]) { client, show in
                let operation = client.addRequest(Get<String>("a"))
                operation.addCompletion(on: .main) { show((try? $0.get()) ?? "error") }
                return operation
            },
            Door(testDescription: "progress", expected: ["1.0"]) { client, show in
                let operation = client.makeOperation(for: Get<String>("a"))
                operation.onProgress(on: .main) { if $0.fraction == 1 { show("1.0") } }
                client.addOperation(operation)
                return operation
            },
            Door(testDescription: "events", expected: ["started"]) { client, show in
                client.addRequest(
                    Get<String>("a").monitored(
                        by: .events(on: .main) { event, _ in if case .operationStarted = event { show("started") } }
                    )
                )
            },
        ]
    }

    @Test(arguments: Door.all) @MainActor func mainQueueClosureRunsOnMainActor(door: Door) async throws {
        let (screen, isShown) = (Screen(), Gate())
        let operation = door.enter(Self.client) { [weak screen] line in
            screen?.show(line)
            isShown.open()
        }
        try await isShown.wait()
        #expect(screen.lines.prefix(1) == door.expected[...])
        withExtendedLifetime(operation) {}
    }

    @Test @MainActor func cancelAllCompletionRunsOnMainActor() async throws {
        let (screen, isShown) = (Screen(), Gate())
        HTTPClient(baseURL: Self.base).cancelAllRequests(completionQueue: .main) { [weak screen] in
            screen?.show("over")
            isShown.open()
        }
        try await isShown.wait()
        #expect(screen.lines == ["over"])
    }

    @Test @MainActor func dependentOnMainQueueRunsAfterCompletion() async throws {
        let (screen, isOver) = (Screen(), Gate())
        let request = Self.client.addRequest(Get<String>("a"), completionQueue: .main) { _ in screen.show("completion")
        }
        let dependent = BlockOperation {
            MainActor.assumeIsolated { screen.show("dependent") }
            isOver.open()
        }
        dependent.addDependency(request)
        OperationQueue.main.addOperation(dependent)
        try await isOver.wait()
        #expect(screen.lines == ["completion", "dependent"])
    }

    @Test func sendableClosureCanBeMainQueueCompletion() async throws {
        let isOver = Gate()
        let completion: @Sendable (Result<String, RequestError>) -> Void = { _ in
            MainActor.preconditionIsolated()
            isOver.open()
        }
        Self.client.addRequest(Get<String>("a"), completionQueue: .main, completion: completion)
        try await isOver.wait()
    }
}

private struct Service: NetworkService { let client: HTTPClient }

private struct AnyFailure: DataRequest {
    typealias Success = String
    var identifier: String { "any" }
    func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {}
}

private struct OwnFailure: Error { var code: String }

private struct OwnFailing: DataRequest {
    typealias Success = String
    typealias Failure = OwnFailure
    var identifier: String { "own" }
    func mapError(_ error: any Error) -> OwnFailure { OwnFailure(code: RequestError(error).code.name) }
    func processData(_ data: Data) throws -> String { "" }
    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {}
}
