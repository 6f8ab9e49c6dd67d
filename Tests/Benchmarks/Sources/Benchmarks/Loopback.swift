// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A server in a process of its own, so that its processor time isn't the client's.
enum LoopbackServer {
    enum Runner: Sendable { case bareSession, injectedSession }

    /// Serves one small JSON document until standard input ends.
    static func serve() throws {
        let server = try MockServer()
        server.route(.get, "/todo", .json(Todo.json))
        print(server.url("/todo").absoluteString)
        fflush(nil)
        _ = FileHandle.standardInput.readDataToEndOfFile()
        server.stop()
    }

    static func measure(_ width: Int, runner: Runner, count: Int = 4_000) throws -> Usage {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--serve"]
        let output = Pipe()
        let input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        defer {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw URLError(.badURL)
        }
        let load = Load(url: url, width: width)
        switch runner {
        case .bareSession:
            let client = BareSession()
            load.run(width * 20, client.get)
            return Usage.measure { load.run(count, client.get) }
        case .injectedSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpMaximumConnectionsPerHost = 64
            let session = URLSession(configuration: configuration)
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            let get: Load.Get = { url, done in
                queue.addRequest(TodoRequest(url: url), session: session) { result in done((try? result.get()) != nil) }
            }
            load.run(width * 20, get)
            return Usage.measure { load.run(count, get) }
        }
    }
}

/// Keeps a number of requests in flight until a count is reached.
struct Load: Sendable {
    typealias Get = @Sendable (URL, @escaping @Sendable (Bool) -> Void) -> Void

    let url: URL
    let width: Int

    func run(_ count: Int, _ get: @escaping Get) {
        let rest = Guarded(count)
        let done = DispatchGroup()
        for _ in 0..<min(width, count) {
            done.enter()
            next(rest, get, done)
        }
        done.wait()
    }

    private func next(_ rest: Guarded<Int>, _ get: @escaping Get, _ done: DispatchGroup) {
        let goesOn = rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
        guard goesOn else { return done.leave() }
        get(url) { succeeded in
            guard succeeded else { fatalError("a request failed") }
            next(rest, get, done)
        }
    }
}

/// Delegate tasks on a session of the same configuration, with the same decoding, off the delegate's queue.
// Sendable: everything mutable is behind the lock.
final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Running {
        var data = Data()
        let done: @Sendable (Bool) -> Void
    }

    private let running = Guarded<[Int: Running]>([:])
    private let session = Guarded<URLSession?>(nil)

    @Sendable func get(_ url: URL, _ done: @escaping @Sendable (Bool) -> Void) {
        let session = session.withLock { session -> URLSession in
            if let session { return session }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpMaximumConnectionsPerHost = 64
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let new = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
            session = new
            return new
        }
        let task = session.dataTask(with: url)
        running.withLock { $0[task.taskIdentifier] = Running(done: done) }
        task.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        running.withLock { $0[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let run = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        DispatchQueue.global().async {
            let todo = try? JSONDecoder().decode(Todo.self, from: run.data)
            run.done(error == nil && todo != nil)
        }
    }
}
