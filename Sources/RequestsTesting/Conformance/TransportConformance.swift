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
