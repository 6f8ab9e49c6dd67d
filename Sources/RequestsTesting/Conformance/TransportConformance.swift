// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The rules of `HTTPTransport` as checks that any transport can be put to.
///
/// Whoever writes a transport finds out here whether requests behave over it as they do over the built-in ones. Each
/// check runs against a ``MockServer`` of its own, and knows no test framework: it throws a ``ConformanceFailure``.
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
public enum TransportConformance {
    /// All checks, in the order of the questions that somebody who writes a transport has.
    public static let checks: [Check] =
        events + cancelling + messages + bodies + manners + limits + flow + faults

    /// Puts a transport to all checks, one after the other.
    ///
    /// - Parameters:
    ///   - knownFaults: What the transport is known to do wrong, by the name of the check.
    ///   - patience: How long anything that has to come may take, see ``Check/run(on:knownFault:patience:)``.
    ///   - makeTransport: Makes the transport, anew for each check.
    /// - Returns: What came of each; nothing is thrown.
    public static func run(
        knownFaults: [String: KnownFault] = [:],
        patience: Duration = .seconds(10),
        on makeTransport: @Sendable () throws -> any HTTPTransport
    ) async -> Report {
        var report = Report(unknownNames: Set(knownFaults.keys).subtracting(checks.map(\.name)).sorted())
        for check in checks {
            do {
                let fault = knownFaults[check.name]
                let outcome = try await check.run(on: makeTransport, knownFault: fault, patience: patience)
                report.results.append((check.name, .success(outcome)))
            } catch {
                report.results.append((check.name, .failure(error)))
            }
        }
        return report
    }
}
