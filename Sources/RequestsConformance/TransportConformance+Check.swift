// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// A check of a transport.
    public struct Check: Sendable, CustomStringConvertible {
        typealias Script = @Sendable (ConformanceTrial) async throws -> Void

        /// A short description of the behavior that is checked, which is unique among the checks.
        public let name: String
        /// The rule that the check verifies, as in the documentation of `HTTPTransport`.
        public let rule: String
        private let need: Need
        private let capabilities: TransportCapabilities
        private let script: Script

        /// Creates a check, which is skipped for transports without the capabilities.
        init(
            _ name: String,
            _ rule: Rule,
            needs need: Need = .script,
            with capabilities: TransportCapabilities = [],
            script: @escaping Script
        ) {
            (self.name, self.rule, self.need) = (name, rule.rawValue, need)
            (self.capabilities, self.script) = (capabilities, script)
        }

        /// Whether the check needs a server that the transport can reach.
        public var needsServer: Bool { need != .nothing }

        /// Whether the server must be a `MockServer`, because the check sends malformed bytes, or inspects what the
        /// server received.
        ///
        /// Such a check is skipped with any other server.
        public var needsMockServer: Bool { need == .script }

        /// The name of the check.
        public var description: String { name }

        /// Runs the check on a transport.
        ///
        /// - Parameters:
        ///   - makeTransport: Creates the transport; called once.
        ///   - server: The URL of a server with the routes of ``TransportConformance``; by default, the check starts a
        ///     `MockServer`. Checks that need the `MockServer` are skipped with another server.
        ///   - maximumWait: The maximum time to wait for anything that must happen, such as a response, or the end event
        ///     after a cancellation; 30 seconds by default. This isn't a performance limit: only a failing check waits
        ///     that long.
        /// - Returns: Why the check was skipped; `nil` if it passed.
        /// - Throws: ``ConformanceFailure`` if the transport violates the rule, or if the check couldn't start. A
        ///   skipped check isn't an error.
        @discardableResult
        public func run(
            on makeTransport: @Sendable () throws -> any HTTPTransport,
            at server: URL? = nil,
            maximumWait: Duration = .seconds(30)
        ) async throws(ConformanceFailure) -> Skip? {
            if server != nil, needsMockServer { return Skip(reason: "the check requires a MockServer") }
            let trial: ConformanceTrial
            do {
                trial = try ConformanceTrial(makeTransport(), at: server, maximumWait: maximumWait)
            } catch {
                let problem = "the check couldn't start: \(error)"
                throw ConformanceFailure(of: "a transport", check: self, problems: [problem])
            }
            guard trial.transport.capabilities.isSuperset(of: capabilities) else {
                return Skip(reason: "the transport lacks a capability that the check requires")
            }
            do {
                try await script(trial)
            } catch is ConformanceTrial.Abort {
                // The trial has already recorded the problem.
            } catch {
                trial.recordProblem("the check was aborted: \(error)")
            }
            await trial.awaitLateEvents()
            let problems = trial.problems
            guard problems.isEmpty else {
                throw ConformanceFailure(
                    of: "\(type(of: trial.transport))",
                    check: self,
                    problems: problems,
                    transcript: trial.transcript
                )
            }
            return nil
        }
    }

    /// The outcome of a check that doesn't apply.
    public struct Skip: Sendable, Hashable {
        /// The reason, such as a missing capability of the transport, or a server that isn't a `MockServer`.
        public let reason: String
    }

    /// The resources that a check needs in addition to a transport.
    enum Need: Sendable {
        /// Responses for `/text` and `/stalled`, from any source.
        case nothing
        /// A server with the documented routes.
        case server
        /// A server whose responses are scripted byte by byte, and whose received requests can be inspected.
        case script
    }

    /// The rules that the checks verify, as in the documentation of `HTTPTransport`.
    enum Rule: String {
        case exact = "The request is sent unchanged, and the response is reported unchanged."
        case plain = "Redirects, cookies, challenges, retries and caching are left to the library."
        case immediate = "send(_:receive:) starts a transfer and returns immediately."
        case serial = "Events of a transfer are delivered one at a time: each call returns before the next begins."
        case order =
            "The order is: informational and sent, at most one head, data mixed with sent, metrics, exactly one end."
        case complete =
            "A transfer that ends without an error has reported a head; an interrupted transfer ends with an error."
        case cancel = "cancel() also leads to the end, with an error of code cancelled, within bounded time."
        case decoded = "Compressed content is delivered decoded."
        case unlocked =
            "No event is delivered while a lock is held, because the receiver may call back into the transfer."
        case unsupported =
            "A request that the transport doesn't support ends with the code unsupported, before anything is sent."
        case capabilities =
            "A feature that isn't among the capabilities is rejected or ignored, but never partially applied."
        case upgraded =
            "After a requested 101, the peer's bytes are reported as content, and the upgrade's bytes are sent."
        case limits = "A timeout limits the idle time, to the millisecond; a size limit may be left to the operation."
    }
}
