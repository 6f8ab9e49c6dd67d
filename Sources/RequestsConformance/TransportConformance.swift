// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The rules of `HTTPTransport`, as checks that run on any transport.
///
/// The checks show the author of a transport whether requests behave as they do with the built-in transports. Each
/// check runs with a separate `MockServer`, or with your own server. The checks don't depend on a test framework: a
/// failing check throws a ``ConformanceFailure``.
///
/// ```swift
/// for check in TransportConformance.checks {
///     let skip = try await check.run(on: { MyTransport() })
///     print(check, skip?.reason ?? "passed")
/// }
/// ```
///
/// In Swift Testing, pass the checks as arguments of one test: `@Test(arguments: TransportConformance.checks)`. If the
/// transport lacks the capability for a feature, the check only verifies that the transport rejects the feature, or it
/// is skipped with a reason, so look at the result. If the transport is known to fail a check, don't omit the check,
/// but wrap it in `withKnownIssue`, which fails as soon as the bug is fixed.
///
/// ### Without a network
///
/// A transport that doesn't use a server can run the checks that don't need one, see ``Check/needsServer``. They
/// request two targets: `/text`, which must return 200 with the content `text`, and `/stalled`, which must never
/// return.
///
/// ### With your own server
///
/// A `MockServer` speaks HTTP/1.1 without TLS. To test a transport with other protocols, pass the checks the URL of
/// another server with the following routes. Checks with ``Check/needsMockServer`` are then skipped.
///
/// | route | response |
/// |---|---|
/// | `GET /text` | 200 with the content `text` and its length |
/// | `GET /stalled` | nothing, ever |
/// | `GET /begun` | 200 with `Content-Length: 100` and the content `0123456789`, and then nothing, ever |
/// | `GET /drip` | 200 with the content `01234567`, one byte every tenth of a second |
/// | `GET /flood/{count}` | 200 with `count` blocks of 64 KiB, as fast as the client reads them |
/// | `GET`, `POST`, `PUT`, `PATCH`, `DELETE /echo` | 200 with the content of the request |
/// | `POST /upload` | nothing, ever, and the content of the request isn't read |
/// | `GET /seen` | 200 with a line `name: value` for each header field of the request |
/// | `GET /status/{code}` | that status with the content `why`; without content for 204 and 304 |
/// | `GET /redirect/{code}` | that status with `Location: /text` |
/// | `GET /fields` | 200 with `X-A: 1`, `X-B: 3` and `X-A: 2` |
/// | `GET /login` | 200 with `Set-Cookie: conformance=1; Path=/` |
/// | `GET /gzip` | 200 with `{"name":"Pancakes"}`, compressed with gzip, and with `Content-Encoding: gzip` |
///
/// The response to a `HEAD` equals that to a `GET`, but without content. A response that never ends must end when the
/// client disconnects.
public enum TransportConformance {
    /// All checks, starting with those that matter most while you develop a transport.
    public static let checks: [Check] =
        events + cancellation + messages + bodies + transparency + limits + concurrency + faults + upgrades
}

/// A violated rule and what was observed; the description is meant for a test report.
public struct ConformanceFailure: DescribedError, Sendable {
    /// The name of the check.
    public let name: String
    /// The rule that was violated, as in the documentation of `HTTPTransport`.
    public let rule: String
    /// The type of the transport.
    public let transport: String
    /// The problems, one sentence each: what was expected, and what happened instead.
    public let problems: [String]
    /// The requests of the check with their events, such as `GET /text: head 200, data, end`.
    public let transcript: [String]

    /// The maximum number of problems and of requests that the description lists; a check may send a thousand requests.
    private static let maximumListed = 12

    init(of transport: String, check: TransportConformance.Check, problems: [String], transcript: [String] = []) {
        name = check.name
        rule = check.rule
        self.transport = transport
        self.problems = problems
        self.transcript = transcript
    }

    /// The failure as multiline text.
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
