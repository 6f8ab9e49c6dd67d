// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The delegate of a session, which passes the events of its tasks to their transfers.
// Sendable: a delegate has to inherit from NSObject; its state is constants and one lock.
final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let queue: OperationQueue?
    private let transfers = Locked<[ObjectIdentifier: SessionTransfer]>([:])
    #if canImport(FoundationNetworking)
    private let watch = IdleWatch()
    #else
    /// The delegate of tasks in sessions that aren't the library's.
    static let shared = SessionDelegate(queue: nil)
    #endif
    #if canImport(Security)
    /// The rules for judging servers; `nil` if only the system judges them.
    private let trust: SessionTrust?

    /// Makes a delegate that is called on a serial queue; `nil` if the sessions have their own.
    init(queue: OperationQueue?, trust: SessionTrust? = nil) {
        self.queue = queue
        self.trust = trust
    }
    #else

    /// Makes a delegate that is called on a serial queue; `nil` if the sessions have their own.
    init(queue: OperationQueue?) {
        self.queue = queue
    }
    #endif

    /// Runs an action between two calls of the delegate.
    func perform(_ action: @escaping @Sendable () -> Void) {
        guard let queue else { return action() }
        queue.addOperation(action)
    }

    func add(_ transfer: SessionTransfer, for task: URLSessionTask, timeout: Duration) {
        transfers.withLock { $0[ObjectIdentifier(task)] = transfer }
        #if canImport(FoundationNetworking)
        watch.add(ObjectIdentifier(task), timeout: timeout) { [weak transfer] in transfer?.stop(.timedOut) }
        #endif
    }

    private func transfer(of task: URLSessionTask) -> SessionTransfer? {
        #if canImport(FoundationNetworking)
        watch.touch(ObjectIdentifier(task))
        #endif
        return transfers.withLock { $0[ObjectIdentifier(task)] }
    }

    // MARK: The delegate

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let transfer = transfer(of: dataTask)
        transfer.map(checkTrust)
        transfer?.didReceive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.didReceive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.didSend(totalBytesSent, of: totalBytesExpectedToSend)
    }

    /// Refuses every redirect: the library follows them itself.
    ///
    /// A redirect of a cancelled task isn't answered, because on Linux the answer would end the process; the
    /// cancellation completes the task without it.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        guard transfer(of: task)?.isRunning == true else { return }
        #endif
        completionHandler(nil)
    }

    /// Leaves challenges of a server or a proxy for credentials to the library, which handles the response.
    ///
    /// On Linux the default handling would never complete, so the challenge is cancelled, and the transfer is told to
    /// ignore that.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        transfer(of: task)?.didRejectChallenge()
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        switch trust?.disposition(to: challenge) ?? .system {
        case .system:
            completionHandler(.performDefaultHandling, nil)
        case .use(let credential):
            completionHandler(.useCredential, credential)
        case .refuse(let trustFailure):
            transfer(of: task)?.stop(.untrusted(trustFailure))
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
        #endif
    }

    /// Ends a transfer whose server was never judged: TLS may resume sessions of other connections of the process,
    /// which had other requirements.
    private func checkTrust(of transfer: SessionTransfer) {
        #if canImport(Security)
        if trust?.hasAcceptedServer == false { transfer.stop(.untrusted(.unchecked)) }
        #endif
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        completionHandler(transfer(of: task)?.newBodyStream())
    }

    #if !canImport(FoundationNetworking)
    // On Linux it is never called, and using the type traps.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let last = metrics.transactionMetrics.last else { return }
        transfer(of: task)?.didMeasure(TransferRecord.Metrics(last, start: metrics.taskInterval.start))
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        #if canImport(FoundationNetworking)
        watch.remove(ObjectIdentifier(task))
        #endif
        let transfer = transfers.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        if error == nil { transfer.map(checkTrust) }
        transfer?.didComplete(error)
    }
}

#if canImport(FoundationNetworking)
import Foundation

/// Ends transfers that have been silent for too long, to the millisecond, which `URLSession` can't on Linux.
final class IdleWatch: Sendable {
    private struct State: Sendable {
        var timeouts = IdleTimeouts<ObjectIdentifier>()
        var actions: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "Requests.IdleWatch")

    func add(_ id: ObjectIdentifier, timeout: Duration, action: @escaping @Sendable () -> Void) {
        let nanoseconds = UInt64(timeout.clampedNanoseconds)
        let check = state.withLock { state in
            state.actions[id] = action
            return state.timeouts.add(id, timeout: nanoseconds, now: Self.now)
        }
        schedule(check)
    }

    func touch(_ id: ObjectIdentifier) {
        state.withLock { $0.timeouts.touch(id, now: Self.now) }
    }

    func remove(_ id: ObjectIdentifier) {
        _ = state.withLock { state in
            state.timeouts.remove(id)
            return state.actions.removeValue(forKey: id)
        }
    }

    private func schedule(_ check: UInt64?) {
        guard let check else { return }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: check)) { [weak self] in self?.check() }
    }

    private func check() {
        let (actions, next) = state.withLock { state in
            let (expired, next) = state.timeouts.check(now: Self.now)
            return (expired.compactMap { state.actions.removeValue(forKey: $0) }, next)
        }
        for action in actions { action() }
        schedule(next)
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
#endif
