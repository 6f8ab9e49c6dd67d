// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The rules of `HTTPTransport` as checks that any transport can be put to.
///
/// Whoever writes a transport finds out here whether requests behave over it as they do over the built-in ones. Each
/// check runs against a ``MockServer`` of its own, or against a server of yours, and knows no test framework: it throws a
/// ``ConformanceFailure``.
///
/// ```swift
/// for check in TransportConformance.checks {
///     let outcome = try await check.run(on: { MyTransport() })
///     print(check, outcome)      // "a redirect is an answer passed"
/// }
/// ```
///
/// In Swift Testing, the checks are the arguments of one test: `@Test(arguments: TransportConformance.checks)`. Where a
/// transport says by its capabilities that it can't do something, the check asks only that it says so as well where it
/// is asked for it, or is skipped with a reason: read the outcome. What a transport does wrong and is known to is
/// declared, by ``KnownFault``, and not left out.
///
/// ### Without a network
///
/// A transport that reaches no server can be put to the checks that don't need one, by ``Check/needsServer``. They ask
/// for two addresses: `/text`, which is to be answered with 200 and the content `text`, and `/stalled`, which is never
/// to be answered.
///
/// ### At a server of yours
///
/// A ``MockServer`` speaks HTTP/1.1 without TLS. What else a transport can do, it is put to at another server, whose
/// address the checks are given: those that need no more than this of it, by ``Check/needsMockServer``, and the others
/// are skipped.
///
/// | route | what is answered |
/// |---|---|
/// | `GET /text` | 200 with the content `text` and its length |
/// | `GET /stalled` | nothing, ever |
/// | `GET /begun` | 200 with `Content-Length: 100` and the content `0123456789`, and then nothing, ever |
/// | `GET /drip` | 200 with the content `01234567`, a byte each tenth of a second |
/// | `GET /flood/{count}` | 200 with so many pieces of 64 KiB, as fast as the client takes them |
/// | `GET`, `POST`, `PUT`, `PATCH`, `DELETE /echo` | 200 with the content of the request |
/// | `POST /upload` | nothing, ever, and the content of the request isn't read |
/// | `GET /seen` | 200 with a line `name: value` for each field of the request |
/// | `GET /status/{code}` | that status with the content `why`; without it for 204 and 304 |
/// | `GET /redirect/{code}` | that status with `Location: /text` |
/// | `GET /fields` | 200 with `X-A: 1`, `X-B: 3` and `X-A: 2` |
/// | `GET /login` | 200 with `Set-Cookie: conformance=1; Path=/` |
/// | `GET /gzip` | 200 with `{"name":"Pancakes"}`, compressed with gzip, and with a `Content-Encoding` that says so |
///
/// A `HEAD` is answered as the `GET`, without content. Where the client leaves, what never ends must end.
public enum TransportConformance {
    /// All checks, in the order of the questions that somebody who writes a transport has.
    public static let checks: [Check] =
        events + cancelling + messages + bodies + manners + limits + flow + faults

    /// Puts a transport to all checks, one after the other.
    ///
    /// - Parameters:
    ///   - server: The address of a server that does what is said above; by default each check starts a ``MockServer``.
    ///   - knownFaults: What the transport is known to do wrong, by the name of the check.
    ///   - patience: How long anything that has to come may take, see ``Check/run(on:at:knownFault:patience:)``.
    ///   - makeTransport: Makes the transport, anew for each check.
    /// - Returns: What came of each; nothing is thrown.
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

/// Which rule a transport broke, and what was seen; its description is made to be read in a test's report.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What a declared fault may stand for, and what it mustn't hide.
    enum Kind: Sendable {
        /// The transport broke the rule.
        case fault
        /// The check was passed, against a declaration.
        case passed
        /// There was no transport, or no server.
        case untried
    }

    /// The name of the check.
    public let name: String
    /// The rule, as the documentation of `HTTPTransport` has it.
    public let rule: String
    /// The type of the transport.
    public let transport: String
    /// What was expected and what happened instead, a sentence each.
    public let problems: [String]
    /// The requests of the check, each with its events: `GET /text: head 200, data, end`.
    public let transcript: [String]
    let kind: Kind

    /// How many sentences and requests the description has at most: a check may send a thousand.
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

    /// The failure, as some lines.
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
    /// What came of a check that wasn't failed, or not unexpectedly.
    public enum Outcome: Sendable, CustomStringConvertible {
        /// The transport keeps the rule.
        case passed
        /// The question doesn't arise, with the reason: a capability that the transport doesn't claim.
        case skipped(String)
        /// The transport is known to break the rule, with the reason that was declared, and what happened; nil where
        /// the check wasn't run at all.
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

    /// That a transport is known to break a rule, and why: a declared exception rather than a weaker check.
    public enum KnownFault: Sendable {
        /// The check fails each time; that it is passed is a failure, since then the declaration is out of date.
        case fails(String)
        /// The check fails at times.
        case mayFail(String)
        /// The check isn't run: it would end the process, or never end.
        case endsProcess(String)
    }

    /// What came of all checks.
    public struct Report: Sendable, CustomStringConvertible {
        /// Names of declared faults that no check has.
        public let unknownNames: [String]
        /// The checks in their order, each with what came of it.
        public internal(set) var results: [(name: String, outcome: Result<Outcome, ConformanceFailure>)] = []

        /// The checks that were failed, apart from what was declared.
        public var failures: [ConformanceFailure] {
            results.compactMap { result in
                if case .failure(let failure) = result.outcome { failure } else { nil }
            }
        }

        /// Whether nothing failed, apart from what was declared, and what was declared exists.
        public var isConforming: Bool { failures.isEmpty && unknownNames.isEmpty }

        /// A line for each check, and one more for each declaration that no check has.
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
