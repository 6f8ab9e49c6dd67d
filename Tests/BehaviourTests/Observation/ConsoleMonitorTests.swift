// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ConsoleMonitorTests {
    private func lines(
        _ level: ConsoleMonitor.Level = .summary,
        showsCURL: Bool = false,
        tag: String? = nil,
        _ run: (SampleOperation) -> Void
    ) -> [String] {
        let lines = Recorder<String>()
        run(SampleOperation(7, tag: tag, monitor: ConsoleMonitor(level, showsCURL: showsCURL) { lines.record($0) }))
        return lines.elements
    }

    @Test func summaryPrintsOneLinePerEvent() {
        let lines = lines { $0.runThroughEverything() }

        #expect(
            lines == [
                "#7 GetUser created",
                "#7 started",
                "#7.1 -> GET https://example.com/users/1",
                "#7.1 <- 302 Found",
                "#7.1 ended: 302 Found, 28.0 ms",
                "#7.2 -> GET https://example.com/b?token=REDACTED&page=2 (redirect)",
                "#7.2 <- 503 Service Unavailable",
                "#7.2 ended: 503 Service Unavailable",
                "#7 retries in 50.0 ms: unacceptableStatus while validating",
                "#7.3 -> GET https://example.com/b?token=REDACTED&page=2 (retry)",
                "#7.3 <- 200 OK",
                "#7.3 ended: 200 OK",
                "#7 succeeded",
            ]
        )
    }

    @Test func retriedAttemptIncludesFailureReason() async throws {
        let lines = Recorder<String>()
        let failure = RequestError(.connectionLost, phase: .sending, reason: "the socket was closed")
        let client = HTTPClient(transport: InMemoryTransport { _ in .failure(failure) }) {
            $0.monitors = [ConsoleMonitor { lines.record($0) }]
            $0.retry = RetryPolicy(limit: 1, backoff: .none)
        }

        let operation = client.addRequest(HTTPRequest("https://example.com/a?token=hush"))
        await operation.end()

        let reason = "connectionLost while sending: the socket was closed"
        #expect(lines.elements.contains { $0.contains("retries in") && $0.hasSuffix(": \(reason)") })
        #expect(lines.elements.contains { $0.contains(".1 failed") && $0.hasSuffix(": \(reason)") })
        #expect(operation.transfers.first?.description.hasSuffix(", \(reason)") == true)
    }

    @Test func linesBeginWithTimestampIfEnabled() {
        let lines = Recorder<String>()
        let watch = ManualDate(SampleOperation.start)
        let monitor = ConsoleMonitor(.headers, showsTime: true, write: { lines.record($0) }, now: { watch.now })
        let operation = SampleOperation(7, monitor: monitor)
        operation.make()
        watch.advance(milliseconds: 1500)
        operation.end(operation.begin(1, .initial, HTTPRequest("https://h/").headers { Accept(.json) }))

        #expect(
            lines.elements.prefix(3) == [
                "2026-11-21T10:00:00.000Z #7 GetUser created", "2026-11-21T10:00:01.500Z #7.1 -> GET https://h/",
                "2026-11-21T10:00:01.500Z #7.1 > Accept: application/json",
            ]
        )
        #expect(lines.elements.allSatisfy { $0.hasPrefix("2026-11-21T10:00:0") })
    }

    @Test(arguments: [ConsoleMonitor.Level.bodies, .responses])
    func responsesLevelPrintsSuccessfulBodies(level: ConsoleMonitor.Level) async {
        let transport = InMemoryTransport.answering([
            .status(.serviceUnavailable, body: Data("busy".utf8)), .json(#"{"name": "Ada", "access_token": "hush"}"#),
        ])
        let lines = Recorder<String>()
        let client = HTTPClient(transport: transport) {
            $0.retry = RetryPolicy(backoff: .none)
            $0.monitors.append(ConsoleMonitor(level) { lines.record($0) })
        }
        _ = try? await client.fetch(HTTPRequest(url: home))
        while !lines.elements.contains(where: { $0.hasSuffix("succeeded") }) { await Task.yield() }

        let content = lines.elements.filter { $0.contains("Ada") }
        #expect(content.count == (level == .responses ? 1 : 0))
        #expect(content.allSatisfy { $0.contains(".2 < {") })
        #expect(!lines.elements.contains { $0.contains("hush") || $0.contains("busy") })
    }

    @Test func headersPrintOnePerLineWithoutSecrets() {
        let lines = lines(.headers) { operation in
            var request = SampleOperation.request
            request.headers = [.accept(.json), .authorization(.bearer("hush")), HTTPField("X-Vault-Token", "hush")]
            let attempt = operation.begin(1, .initial, request)
            operation.end(attempt, .ok, headers: ["Server": "x", "Set-Cookie": "a=hush"])
        }

        #expect(lines.contains("#7.1 > Accept: application/json"))
        #expect(lines.contains("#7.1 > Authorization: Bearer <redacted>"))
        #expect(lines.contains("#7.1 < Server: x"))
        #expect(!lines.joined().contains("hush"))
    }

    @Test func namedSecretsAreRedactedFromContent() {
        let lines = lines(.bodies) { operation in
            var request = HTTPRequest(method: .post, "https://example.com/login")
            request.headers = [.contentType: "application/json"]
            request.body = .data(Data(#"{"user": "ann", "password": "hush"}"#.utf8))
            _ = operation.begin(1, .initial, request)
            request.headers = [.contentType: "application/x-www-form-urlencoded"]
            request.body = .data(Data("user=ann&password=hush".utf8))
            _ = operation.begin(2, .initial, request)
            request.headers = [.contentType: "application/json"]
            request.body = .data(Data(#"{"password": "hush"#.utf8))
            _ = operation.begin(3, .initial, request)
            let error = RequestError(.unacceptableStatus, phase: .validating, body: Data("no\nentry".utf8))
            operation.end(.failure(error))
        }

        #expect(lines.contains(#"#7.1 > {"password":"REDACTED","user":"ann"}"#))
        #expect(lines.contains("#7.2 > user=ann&password=REDACTED"))
        #expect(lines.contains("#7.3 > (18 bytes)"))
        #expect(lines.contains("#7 < no\\nentry"))
        #expect(!lines.joined().contains("hush"))
    }

    @Test func curlCommandIsAlwaysOneLine() {
        let lines = lines(showsCURL: true) { operation in
            var request = HTTPRequest(method: .post, "https://example.com/a?token=hush")
            request.headers = [.authorization(.bearer("hush")), HTTPField(.userAgent, "a")]
            request.body = .data(Data("a\n#8 succeeded\u{1B}".utf8))
            _ = operation.begin(1, .initial, request)
        }

        #expect(lines.count == 2)
        #expect(
            lines.last?.hasPrefix("#7.1 $ { printf -- 'a\\012#8 succeeded\\033'; } | curl --request 'POST'") == true
        )
        #expect(!lines.joined().contains("hush"))
    }

    @Test func hostileTextCannotForgeLinesOrEscapeCodes() {
        let bad = "x\r\n#9 succeeded\u{1B}[2J\u{202E}\u{2028}\u{9B}"
        let lines = lines(.bodies, showsCURL: true, tag: bad) { operation in
            operation.make()
            var request = HTTPRequest("https://example.com/a")
            request.method = HTTPMethod(bad)
            request.headers.add(bad, for: HTTPField.Name(bad))
            let attempt = operation.begin(1, .initial, request)
            operation.end(attempt, .ok, headers: [HTTPField(HTTPField.Name(bad), bad)])
            let error = RequestError(.other, phase: .sending, reason: bad, body: Data(bad.utf8))
            operation.end(.failure(error))
        }

        #expect(lines.allSatisfy { $0.hasPrefix("#7") })
        let forbidden = "\r\n\u{1B}\u{202E}\u{2028}\u{9B}".unicodeScalars
        #expect(lines.allSatisfy { line in line.unicodeScalars.allSatisfy { !forbidden.contains($0) } })
    }

    @Test func credentialsInURLAreNotPrinted() {
        let lines = lines(.bodies, showsCURL: true) {
            _ = $0.begin(1, .initial, HTTPRequest("https://ann:hush@example.com/a"))
        }

        #expect(!lines.joined().contains("hush"))
    }
}
