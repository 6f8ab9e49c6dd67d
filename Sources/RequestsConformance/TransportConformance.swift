// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The rules of `HTTPTransport` as checks that run on any transport.
///
/// They show the author of a transport whether requests behave over it as they do over the built-in ones. Each check
/// runs against its own `MockServer`, or against a server of yours. It depends on no test framework: it throws a
/// ``ConformanceFailure``.
///
/// ```swift
/// for check in TransportConformance.checks {
///     let skip = try await check.run(on: { MyTransport() })
///     print(check, skip?.reason ?? "passed")
/// }
/// ```
///
/// In Swift Testing, the checks are the arguments of one test: `@Test(arguments: TransportConformance.checks)`. If the
/// transport's capabilities lack a feature, the check only verifies that the transport refuses it, or is skipped with a
/// reason: read the result. Wrap a check that a transport is known to fail in `withKnownIssue` rather than leaving it
/// out: it then fails as soon as the fault is gone.
///
/// ### Without a network
///
/// A transport that reaches no server can run the checks that need none, see ``Check/needsServer``. They request two
/// addresses: `/text`, which must return 200 with the content `text`, and `/stalled`, which must never return.
///
/// ### At a server of yours
///
/// A `MockServer` speaks HTTP/1.1 without TLS. To test a transport over other protocols, pass the checks the address
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
        events + cancellation + messages + bodies + transparency + limits + concurrency + faults + upgrades
}

/// A broken rule and what was observed; the description is meant for a test's report.
public struct ConformanceFailure: DescribedError, Sendable {
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

    /// The maximum number of problems, and of requests, in the description: a check may send a thousand.
    private static let maximumListed = 12

    init(of transport: String, check: TransportConformance.Check, problems: [String], transcript: [String] = []) {
        name = check.name
        rule = check.rule
        self.transport = transport
        self.problems = problems
        self.transcript = transcript
    }

    /// The failure as several lines of text.
    public var description: String {
        var lines = ["\(transport) fails: \(name)", "  Rule: \(rule)"]
        lines += Self.truncatedList(of: problems, "  - ")
        if !transcript.isEmpty { lines += ["  What happened:"] + Self.truncatedList(of: transcript, "    ") }
        return lines.joined(separator: "\n")
    }

    private static func truncatedList(of texts: [String], _ prefix: String) -> [String] {
        let rest = texts.count - maximumListed
        return texts.prefix(maximumListed).map { prefix + $0 } + (rest > 0 ? ["\(prefix)… and \(rest) more"] : [])
    }
}
