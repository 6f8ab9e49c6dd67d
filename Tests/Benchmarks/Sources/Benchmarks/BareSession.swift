// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delegate tasks on a session, with the same decoding off the delegate's queue, as a careful program does it by hand.
// Sendable: all mutable state is behind the lock.
final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Running {
        var data = Data()
        let done: @Sendable (Bool) -> Void
    }

    private let running = Guarded<[Int: Running]>([:])
    private let session = Guarded<URLSession?>(nil)

    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }

    func open() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session.withLock { $0 = URLSession(configuration: Self.configuration, delegate: self, delegateQueue: queue) }
    }

    @Sendable func get(_ url: URL, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let session = session.withLock({ $0 }) else { return done(false) }
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
            run.done(error == nil && (try? JSONDecoder().decode(Todo.self, from: run.data)) != nil)
        }
    }
}
