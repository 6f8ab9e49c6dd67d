// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Every end of an operation, at every moment of its life, for every kind of request: there is one completion, nothing
/// is sent after it, and nothing is kept.
@Suite(.bounded) struct EndMatrixTests {
    enum End: CaseIterable, Sendable {
        case cancel, deadline, failure, success
    }

    enum Moment: CaseIterable, Sendable {
        case beforeTheStart, inASuspendedQueue, whileBuilding, betweenTheAnnouncementAndTheSend, whileReceiving
        case inTheWaitForARetry, whileDelivering
    }

    enum Kind: CaseIterable, Sendable {
        case plain, stream, download, coalesced, refreshing
    }

    @Test(arguments: End.allCases, Moment.allCases) func operationEndsOnce(_ end: End, at moment: Moment) async throws {
        for kind in Kind.allCases {
            try await Stage(end, moment, kind).play()
        }
    }

    /// One case of the matrix: two operations if they share a transfer, otherwise one.
    private struct Stage {
        private let (end, moment, kind): (End, Moment, Kind)
        private let clock = ManualClock()
        private let transport = ManualTransport()
        private let built = Recorder<BuildCompletion>()
        private let scheduled = Recorder<Void>()
        private let joined = Recorder<Void>()
        private let census = Census()

        init(_ end: End, _ moment: Moment, _ kind: Kind) {
            (self.end, self.moment, self.kind) = (end, moment, kind)
        }

        private var name: Comment { "\(kind), \(moment), \(end)" }
        /// The number of the transfer with the final response: with a refresh, the first one is rejected.
        private var number: Int { kind == .refreshing ? 2 : 1 }

        func play() async throws {
            switch kind {
            case .plain, .coalesced, .refreshing: try await play(Texts(life: census.life(), make: make))
            case .stream: try await play(Lines(life: census.life(), make: make))
            case .download: try await play(Film(life: census.life(), make: make))
            }
            await census.extinction()
        }

        private func play<R: Request & NetworkRequest>(_ request: R) async throws
        where R.Success == String, R.Failure == RequestError {
            let ending = Ending<R>(end, clock)
            let queue = TestQueue(transport, isSuspended: moment == .inASuspendedQueue) {
                $0.clock = clock
                $0.deadline = .seconds(20)
                $0.retry = RetryPolicy(limit: 2, backoff: .constant(.seconds(30)).jitter(.none))
                $0.monitors = [
                    .events { event, _ in
                        switch event {
                        case .transferStarted(let attempt) where attempt.number == number:
                            if moment == .betweenTheAnnouncementAndTheSend { ending() }
                        case .retryScheduled: scheduled.record(())
                        case .operationJoined: joined.record(())
                        default: break
                        }
                    }
                ]
                guard kind == .refreshing else { return }
                let authenticator = TokenAuthenticator { _ in "new" }
                $0.interceptors = [
                    AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)
                ]
            }
            let probes = (0..<(kind == .coalesced ? 2 : 1)).map { _ in
                Probe(request, on: queue, coalescing: kind == .coalesced)
            }
            ending.set(probes.map(\.operation))
            if moment == .whileDelivering {
                for probe in probes { probe.operation.addMonitor(ending.atTheEnd(of: probe.operation)) }
            }
            if moment == .beforeTheStart { ending() }
            for probe in probes { queue.addOperation(probe.operation) }

            let sent = try await reach(probes.count, ending)

            queue.base.isSuspended = false
            for complete in built.elements { complete(.success(URLRequest(url: home))) }
            for transfer in transport.transfers { transfer.receive(.end(RequestError(.cancelled, phase: .receiving))) }
            for probe in probes {
                let results = await probe.ended()
                #expect(results.count == 1, name)
                #expect(results.allSatisfy { ending.explains($0, isLate: moment == .whileDelivering) }, name)
            }
            #expect(transport.transfers.count == sent, name)
            ending.set([])
            built.forget()
        }

        private func make(_ completion: @escaping BuildCompletion) {
            if moment == .whileBuilding {
                built.record(completion)
            } else {
                completion(.success(URLRequest(url: home)))
            }
        }

        /// Ends the operations at the moment, and returns the number of requests sent by then.
        private func reach<R>(_ count: Int, _ ending: Ending<R>) async throws -> Int {
            switch moment {
            case .beforeTheStart:
                return 0
            case .inASuspendedQueue:
                ending()
                return 0
            case .whileBuilding:
                await built.first(count)
                ending()
                return 0
            case .betweenTheAnnouncementAndTheSend:
                if number == 2 { try await answer(.unauthorized, toTransfer: 1) }
                return number - 1
            case .whileReceiving:
                try await begin(.ok, for: count).receive(.data(Data("par".utf8)))
                ending()
            case .inTheWaitForARetry:
                try await begin(.serviceUnavailable, for: count).receive(.end(nil))
                // A request rejected with a 401 is resent immediately, which counts as a retry too.
                await scheduled.first(count * number)
                ending()
            case .whileDelivering:
                let transfer = try await begin(.ok, for: count)
                transfer.receive(.data(Data("whole".utf8)))
                transfer.receive(.end(nil))
            }
            return number
        }

        /// Begins the final response, once all operations wait for it.
        private func begin(_ status: HTTPStatus, for count: Int) async throws -> ManualTransfer {
            if kind == .coalesced { await joined.first(count) }
            if number == 2 { try await answer(.unauthorized, toTransfer: 1) }
            let transfer = try await transport.awaitTransfer(count: number)
            transfer.receive(.head(HTTPResponseHead(status: status)))
            return transfer
        }

        private func answer(_ status: HTTPStatus, toTransfer number: Int) async throws {
            let transfer = try await transport.awaitTransfer(count: number)
            transfer.receive(.head(HTTPResponseHead(status: status)))
            transfer.receive(.end(nil))
        }
    }

    /// The end of one or two operations, and the result that it leads to.
    private final class Ending<R: NetworkRequest>: Sendable where R.Success == String, R.Failure == RequestError {
        private let end: End
        private let clock: ManualClock
        private let operations = Locked<[NetworkOperation<R>]>([])

        init(_ end: End, _ clock: ManualClock) {
            (self.end, self.clock) = (end, clock)
        }

        func set(_ operations: [NetworkOperation<R>]) {
            let former = self.operations.withLock { present in
                defer { present = operations }
                return present
            }
            withExtendedLifetime(former) {}
        }

        func callAsFunction() { end(operations.withLock { $0 }) }

        /// Ends an operation when it has its result, before its completion.
        func atTheEnd(of operation: NetworkOperation<R>) -> some EventMonitor {
            ClosureMonitor { [weak operation, self] event, _ in
                guard case .operationEnded = event, let operation else { return }
                // The clock advances for both operations.
                if end == .deadline, operations.withLock({ $0 }).contains(where: { $0.result == nil }) { return }
                end([operation])
            }
        }

        private func end(_ operations: [NetworkOperation<R>]) {
            switch end {
            case .cancel: for operation in operations { operation.cancel() }
            case .deadline:
                // The clock wakes the deadlines, which run on other threads.
                let gates = operations.filter { $0.result == nil }.map { operation in
                    let gate = Gate()
                    operation.addCompletion(on: .global()) { _ in gate.open() }
                    return gate
                }
                clock.advance(by: .seconds(20))
                for gate in gates { try? gate.wait() }
            case .failure:
                for operation in operations { operation.finish(throwing: RequestError(.rejected, phase: .validating)) }
            case .success: for operation in operations { operation.finish(with: .success("given")) }
            }
        }

        /// Whether a result is that of this end, or of the response if the end came later.
        func explains(_ result: Result<String, RequestError>, isLate: Bool) -> Bool {
            guard !isLate else { return result.value == "whole" }
            return switch end {
            case .cancel: result.error?.code == .cancelled
            case .deadline: result.error?.code == .deadlineExceeded
            case .failure: result.error?.code == .rejected
            case .success: result.value == "given"
            }
        }
    }

    private struct Texts: DataRequest {
        typealias Success = String
        typealias Failure = RequestError

        let life: Census.Life
        let make: @Sendable (@escaping BuildCompletion) -> Void
        var identifier: String { "text" }

        func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
        func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    private struct Lines: StreamRequest {
        typealias Success = String
        typealias Failure = RequestError

        let life: Census.Life
        let make: @Sendable (@escaping BuildCompletion) -> Void
        var identifier: String { "lines" }

        func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
        func process(_ stream: ResponseStream) async throws -> String {
            var content = Data()
            for try await piece in stream { content += piece }
            return String(decoding: content, as: UTF8.self)
        }
    }

    private struct Film: DownloadRequest {
        typealias Success = String
        typealias Failure = RequestError

        let life: Census.Life
        let make: @Sendable (@escaping BuildCompletion) -> Void
        var identifier: String { "film" }

        func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
        func process(_ file: Download.File) throws -> String {
            defer { try? FileManager.default.removeItem(at: file.url) }
            return String(decoding: try Data(contentsOf: file.url), as: UTF8.self)
        }
    }
}
