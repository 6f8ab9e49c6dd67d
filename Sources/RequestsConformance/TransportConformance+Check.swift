// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// One check of a transport.
    public struct Check: Sendable, CustomStringConvertible {
        typealias Script = @Sendable (ConformanceTrial) async throws -> Void

        /// The behavior that is checked, in a few words; unique among the checks.
        public let name: String
        /// The rule in the documentation of `HTTPTransport` that the check verifies.
        public let rule: String
        private let need: Need
        private let capabilities: TransportCapabilities
        private let script: Script

        /// Makes a check, which is skipped for a transport without the capabilities.
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

        /// Whether the transport has to reach a server.
        public var needsServer: Bool { need != .nothing }

        /// Whether the server must be a `MockServer`: the check needs it to send malformed bytes, or to report what
        /// it received.
        ///
        /// At another server, such a check is skipped.
        public var needsMockServer: Bool { need == .script }

        /// The name.
        public var description: String { name }

        /// Runs the check on a transport.
        ///
        /// - Parameters:
        ///   - makeTransport: Makes the transport, called once.
        ///   - server: The address of a server with the routes of ``TransportConformance``; by default a `MockServer`
        ///     is started. A check that needs the `MockServer` is skipped at another server.
        ///   - patience: The maximum time to wait for anything that has to come, such as a response, or an end after a
        ///     cancel. 30 seconds by default. It isn't a measure of speed: only a failing check waits that long.
        /// - Returns: Why the check was skipped; `nil` if it was passed.
        /// - Throws: ``ConformanceFailure`` if the transport breaks the rule, or if the check couldn't start. A skip
        ///   isn't an error.
        @discardableResult
        public func run(
            on makeTransport: @Sendable () throws -> any HTTPTransport,
            at server: URL? = nil,
            patience: Duration = .seconds(30)
        ) async throws(ConformanceFailure) -> Skip? {
            if server != nil, needsMockServer { return Skip(reason: "only a MockServer does what the check is about") }
            let trial: ConformanceTrial
            do {
                trial = try ConformanceTrial(makeTransport(), at: server, maximumWait: patience)
            } catch {
                let problem = "nothing could be tried: \(error)"
                throw ConformanceFailure(of: "a transport", check: self, problems: [problem])
            }
            guard trial.transport.capabilities.isSuperset(of: capabilities) else {
                return Skip(reason: "the transport can't do what the check is about")
            }
            do {
                try await script(trial)
            } catch is ConformanceTrial.Abort {
                // The trial has the problem already.
            } catch {
                trial.recordProblem("the check couldn't go on: \(error)")
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

    /// A check that doesn't apply.
    public struct Skip: Sendable, Hashable {
        /// The reason: the transport lacks a capability, or the server isn't a `MockServer`.
        public let reason: String
    }

    /// The resources that a check needs besides a transport.
    enum Need: Sendable {
        /// Two addresses that are answered, by any means.
        case nothing
        /// A server with the documented routes.
        case server
        /// A server whose responses are scripted byte by byte, and that reports what it received.
        case script
    }

    /// The rules in the documentation of `HTTPTransport` that the checks verify.
    enum Rule: String {
        case exact = "It sends exactly the request that it is given and reports exactly what came back."
        case plain =
            "It follows no redirect, keeps no cookie, answers no challenge, retries nothing and caches nothing."
        case immediate = "send(_:receive:) starts a transfer and returns at once."
        case serial = "Events of one transfer come one after the other, each call ending before the next begins."
        case order = "Informational and sent, at most one head, data mixed with sent, metrics, exactly one end."
        case complete = "A transfer that ends without an error has had a head; one that was broken off has an error."
        case cancel = "cancel() leads to the end too, with an error of code cancelled, in bounded time."
        case decoded = "Content is delivered decoded (gzip and the like)."
        case unlocked = "No event is delivered under a lock, since the receiver may call back into the transfer."
        case unsupported = "What the transport can't do is an end with the code unsupported, before anything is sent."
        case capabilities = "A feature beyond the capabilities is refused, or known not to happen; never by half."
        case upgraded =
            "After a 101 that the request asks for, the bytes of the peer are content, and those of the upgrade are sent."
        case limits = "A timeout is about silence, to the millisecond; a limit of size may be left to the operation."
    }
}
