// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The rules of `HTTPTransport` as checks that run on any transport.
///
/// They show the author of a transport whether requests behave over it as they do over the built-in ones. Each check
/// runs against its own ``MockServer``, or against a server of yours. It depends on no test framework: it throws a
/// ``ConformanceFailure``.
///
/// ```swift
/// for check in TransportConformance.checks {
///     let outcome = try await check.run(on: { MyTransport() })
///     print(check, outcome)      // "a redirect is an answer passed"
/// }
/// ```
///
/// In Swift Testing, the checks are the arguments of one test: `@Test(arguments: TransportConformance.checks)`. If the
/// transport's capabilities lack a feature, the check only verifies that the transport refuses it, or is skipped with a
/// reason: read the outcome. Declare a known fault of the transport as a ``KnownFault`` rather than leaving the check
/// out.
///
/// ### Without a network
///
/// A transport that reaches no server can run the checks that need none, see ``Check/needsServer``. They request two
/// addresses: `/text`, which must return 200 with the content `text`, and `/stalled`, which must never return.
///
/// ### At a server of yours
///
/// A ``MockServer`` speaks HTTP/1.1 without TLS. To test a transport over other protocols, pass the checks the address
/// of another server with these routes. The checks with ``Check/needsMockServer`` are skipped there.
///
/// | route | response |
/// |---|---|
/// | `GET /text` | 200 with the content `text` and its length |
/// | `GET /stalled` | nothing, ever |
/// | `GET /begun` | 200 with `Content-Length: 100` and the content `0123456789`, and then nothing, ever |
/// | `GET /drip` | 200 with the content `01234567`, a byte each tenth of a second |
/// | `GET /flood/{count}` | 200 with `count` pieces of 64 KiB, as fast as the client takes them |
/// | `GET`, `POST`, `PUT`, `PATCH`, `DELETE /echo` | 200 with the content of the request |
/// | `POST /upload` | nothing, ever, and the content of the request isn't read |
/// | `GET /seen` | 200 with a line `name: value` for each field of the request |
/// | `GET /status/{code}` | that status with the content `why`; without it for 204 and 304 |
/// | `GET /redirect/{code}` | that status with `Location: /text` |
/// | `GET /fields` | 200 with `X-A: 1`, `X-B: 3` and `X-A: 2` |
/// | `GET /login` | 200 with `Set-Cookie: conformance=1; Path=/` |
/// | `GET /gzip` | 200 with `{"name":"Pancakes"}`, compressed with gzip, and with a `Content-Encoding` that says so |
///
/// A `HEAD` is answered like the `GET`, without content. A response that never ends must end when the client
/// disconnects.
public enum TransportConformance {
    /// All checks, beginning with those that matter first when writing a transport.
    public static let checks: [Check] =
        events + cancelling + messages + bodies + manners + limits + flow + faults

    /// Runs all checks on a transport, one after the other.
    ///
    /// - Parameters:
    ///   - server: The address of a server with the routes above; by default each check starts a ``MockServer``.
    ///   - knownFaults: The known faults of the transport, by the name of the check.
    ///   - patience: The maximum time to wait for anything that has to come, see
    ///     ``Check/run(on:at:knownFault:patience:)``.
    ///   - makeTransport: Makes a new transport for each check.
    /// - Returns: The outcomes of all checks; nothing is thrown.
    public static func run(
        at server: URL? = nil,
        knownFaults: [String: KnownFault] = [:],
        patience: Duration = .seconds(30),
        on makeTransport: @Sendable () throws -> any HTTPTransport
    ) async -> Report {
        var report = Report(unknownNames: Set(knownFaults.keys).subtracting(checks.map(\.name)).sorted())
        for check in checks {
            do {
                let fault = knownFaults[check.name]
                let outcome = try await check.run(
                    on: makeTransport,
                    at: server,
                    knownFault: fault,
                    patience: patience
                )
                report.results.append((check.name, .success(outcome)))
            } catch {
                report.results.append((check.name, .failure(error)))
            }
        }
        return report
    }
}

/// A broken rule and what was observed; the description is meant for a test's report.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure, which decides whether a declared fault may excuse it.
    enum Kind: Sendable {
        /// The transport broke the rule.
        case fault
        /// The check passed although a fault is declared.
        case passed
        /// The check couldn't start: there was no transport, or no server.
        case untried
    }

    /// The name of the check.
    public let name: String
    /// The rule, as in the documentation of `HTTPTransport`.
    public let rule: String
    /// The type of the transport.
    public let transport: String
    /// The problems: what was expected and what happened instead, one sentence each.
    public let problems: [String]
    /// The requests of the check, each with its events: `GET /text: head 200, data, end`.
    public let transcript: [String]
    let kind: Kind

    /// The maximum number of problems, and of requests, in the description: a check may send a thousand.
    private static let most = 12

    init(
        _ kind: Kind = .fault,
        of transport: String,
        check: TransportConformance.Check,
        problems: [String],
        transcript: [String] = []
    ) {
        name = check.name
        rule = check.rule
        self.transport = transport
        self.problems = problems
        self.transcript = transcript
        self.kind = kind
    }

    /// The failure as several lines of text.
    public var description: String {
        var lines = ["\(transport) fails: \(name)", "  Rule: \(rule)"]
        lines += Self.some(of: problems, "  - ")
        if !transcript.isEmpty { lines += ["  What happened:"] + Self.some(of: transcript, "    ") }
        return lines.joined(separator: "\n")
    }

    private static func some(of texts: [String], _ prefix: String) -> [String] {
        let rest = texts.count - most
        return texts.prefix(most).map { prefix + $0 } + (rest > 0 ? ["\(prefix)… and \(rest) more"] : [])
    }
}

// MARK: - Outcome

extension TransportConformance {
    /// The outcome of a check that passed, was skipped, or failed as declared.
    public enum Outcome: Sendable, CustomStringConvertible {
        /// The transport keeps the rule.
        case passed
        /// The check doesn't apply, with the reason: the transport lacks a capability.
        case skipped(String)
        /// The transport is known to break the rule: the declared reason, and the failure, which is `nil` if the check
        /// wasn't run.
        case known(String, ConformanceFailure?)

        /// The outcome in words.
        public var description: String {
            switch self {
            case .passed: "passed"
            case .skipped(let reason): "skipped: \(reason)"
            case .known(let reason, let failure): "\(failure == nil ? "not run" : "failed"), as is known: \(reason)"
            }
        }
    }

    /// A declared exception for a rule that the transport breaks, with the reason.
    public enum KnownFault: Sendable {
        /// The check always fails; passing it is a failure, since the declaration is then out of date.
        case fails(String)
        /// The check isn't run, since it would end the process, or never end.
        case endsProcess(String)
    }

    /// The outcomes of all checks.
    public struct Report: Sendable, CustomStringConvertible {
        /// The names of declared faults that match no check.
        public let unknownNames: [String]
        /// The checks in their order, each with its outcome.
        public internal(set) var results: [(name: String, outcome: Result<Outcome, ConformanceFailure>)] = []

        /// The failures that weren't declared.
        public var failures: [ConformanceFailure] {
            results.compactMap { result in
                if case .failure(let failure) = result.outcome { failure } else { nil }
            }
        }

        /// Whether only declared faults failed, and each declaration matches a check.
        public var isConforming: Bool { failures.isEmpty && unknownNames.isEmpty }

        /// A line for each check, and one for each declaration that matches no check.
        public var description: String {
            let lines = results.map { name, outcome in
                switch outcome {
                case .success(let outcome): "\(name): \(outcome)"
                case .failure(let failure): "\(name): failed\n\(failure)"
                }
            }
            return (lines + unknownNames.map { "\($0): declared, but there is no such check" }).joined(separator: "\n")
        }

        init(unknownNames: [String]) {
            self.unknownNames = unknownNames
        }
    }
}
