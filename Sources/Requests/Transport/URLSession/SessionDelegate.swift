// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A session delegate that forwards the events of tasks to their transfers.
// Sendable: a delegate must inherit from NSObject; its state consists of constants and locks.
final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let queue: OperationQueue?
    private let transfers = Locked<[ObjectIdentifier: SessionTransfer]>([:])
    #if canImport(FoundationNetworking)
    private let watch = IdleWatch()
    #else
    /// The task delegate for sessions that belong to the caller.
    static let shared = SessionDelegate(queue: nil)
    #endif
    #if canImport(Security)
    /// The custom trust rules; `nil` if only the system decides whether to trust a server.
    private let trust: SessionTrust?

    /// Creates a delegate that is called on a serial queue; with `nil`, each session has its own queue.
    init(queue: OperationQueue?, trust: SessionTrust? = nil) {
        self.queue = queue
        self.trust = trust
    }
    #else

    /// Creates a delegate that is called on a serial queue; with `nil`, each session has its own queue.
    init(queue: OperationQueue?) {
        self.queue = queue
    }
    #endif

    /// Performs an action on the delegate's queue, so that no call to the delegate overlaps it; if there is no queue,
    /// performs the action immediately.
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

    // MARK: URLSessionDataDelegate

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

    /// Declines every redirect, because the library follows redirects itself.
    ///
    /// On Linux, this method doesn't call the completion handler of a cancelled task, because that would crash the
    /// process. The cancellation completes the task anyway.
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

    /// Handles trust challenges, and rejects challenges for credentials, so that the library receives the response
    /// instead.
    ///
    /// On Linux, the system's default handling would never complete. So this method cancels the challenge, and the
    /// transfer ignores the resulting error.
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

    /// Stops a transfer if its server's certificate was never evaluated.
    ///
    /// This can happen because TLS may resume the session of another connection in the process, which was subject to
    /// other requirements.
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
    // The method is never called on Linux, and using the type there traps.
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

/// Stops transfers after an idle timeout, with a precision of milliseconds that `URLSession` on Linux doesn't support.
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
