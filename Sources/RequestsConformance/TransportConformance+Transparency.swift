// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks that a transport doesn't handle redirects, cookies, credentials, caches or retries itself.
    static let transparency: [Check] = [
        Check("a redirect is reported as a response", .plain, needs: .server) { trial in
            for code in [301, 302, 303, 307, 308] {
                let log = try await trial.send("/redirect/\(code)")
                trial.expectResponse(log, HTTPStatus(code), "\(code)")
                trial.expect(log.head?[.location] == "/text", "the Location of the \(code) is missing")
            }
            let seen = trial.server.requests.map(\.path).filter { $0 == "/text" }
            trial.expect(seen.isEmpty, "\(seen.count) redirects were followed")
        },
        Check("a redirect of a POST is reported with its content", .plain) { trial in
            for code in [302, 307] {
                let response = StubResponse.text("over there", status: HTTPStatus(code), headers: [.location: "/text"])
                trial.server.route(.post, "/\(code)", response)
                let log = try await trial.send("/\(code)", .post, body: .text("abc"))
                trial.expectResponse(log, HTTPStatus(code), content: "over there", "\(code)")
            }
            trial.expectRequests(2)
        },
        Check("a hostile Location does no harm", .plain) { trial in
            let locations = [
                "", " ", "//", "http://", "http://[", "http://[::1", "http://a:99999/", "javascript:alert(1)",
                "file:///etc/hosts", "data:,x", "%", "\\\\host\\share", "\u{FC}ber",
                String(repeating: "a/", count: 4000),
            ]
            for location in locations {
                try await trial.expectArrival(of: .redirect(to: location), context: "Location: \(location.prefix(20))")
            }
            trial.expectRequests(locations.count)
            try await trial.expectStillWorking(after: "hostile locations")
        },
        Check("a redirect without a usable Location keeps its content", .plain) { trial in
            let headers: [HTTPHeaders] = [[], [.location: "http://["], [.location: "ftp://127.0.0.1/"]]
            for fields in headers {
                let response = StubResponse.text("lost", status: .found, headers: fields)
                try await trial.expectArrival(of: response, content: "lost", context: "Location: \(fields)")
            }
        },
        Check("cookies aren't stored", .plain, needs: .server) { trial in
            let log = try await trial.send("/login")
            trial.expect(log.head?[.setCookie] == "conformance=1; Path=/", "Set-Cookie wasn't reported")
            let cookies = try await trial.sentFields(named: "cookie")
            trial.expect(cookies.isEmpty, "the next request was sent with the cookies \(cookies)")
        },
        Check("a 401 is reported as a response", .plain) { trial in
            for challenge in [#"Basic realm="a""#, #"Digest realm="a", nonce="b""#, #"Bearer realm="a""#, "Negotiate"] {
                let headers: HTTPHeaders = [.wwwAuthenticate: challenge]
                trial.server.route(.get, "/closed", .text("who?", status: .unauthorized, headers: headers))
                let log = try await trial.send("/closed")
                trial.expectResponse(log, .unauthorized, content: "who?", challenge)
                trial.expect(log.head?[.wwwAuthenticate] == challenge, "the challenge “\(challenge)” is missing")
            }
            trial.expectRequests(4)
        },
        Check("credentials aren't added from other sources", .plain, needs: .server) { trial in
            let fields = try await trial.sentFields(named: "authorization")
            trial.expect(fields.isEmpty, "an Authorization field was sent")
        },
        Check("proxy credentials aren't sent to the origin", .capabilities, needs: .server) { trial in
            let log = try await trial.send("/seen", headers: [.proxyAuthorization: "Basic YTpi"])
            if log.error != nil, !trial.transport.capabilities.contains(.proxyAuthorization) {
                return trial.expectError(log, .unsupported)
            }
            trial.expectResponse(log)
            let isThere = String(decoding: log.content, as: UTF8.self).lowercased().contains("proxy-authorization")
            trial.expect(!isThere, "Proxy-Authorization was sent to the origin")
        },
        Check("responses aren't cached", .plain) { trial in
            let headers: HTTPHeaders = [.cacheControl: "max-age=3600, public", .eTag: "\"a\""]
            trial.server.route(.get, "/fresh", .text("fresh", headers: headers))
            for _ in 0..<2 { trial.expectResponse(try await trial.send("/fresh"), content: "fresh") }
            trial.expectRequests(2)
            let condition = trial.server.requests.last?.headers[.ifNoneMatch]
            trial.expect(condition == nil, "the second request was made conditional")
        },
        Check("failures aren't retried", .plain) { trial in
            trial.server.route(.get, "/closed", .closed)
            trial.expectError(try await trial.send("/closed"), .connectionLost)
            try await trial.expectArrival(of: .status(.serviceUnavailable, headers: [.retryAfter: "0"]))
            trial.expectRequests(2)
        },
        Check("an unsupported trust policy is rejected before connecting", .unsupported) { trial in
            let address = "https://127.0.0.1:\(trial.server.port)/"
            let log = try await trial.finish(trial.start(address, trust: .only([])))
            trial.expectError(log)
            trial.expect(log.head == nil, "a response from an untrusted server was reported")
            guard log.error?.code == .unsupported else { return }
            trial.expect(trial.server.connectionCount == 0, "the connection was opened before it was rejected")
        },
    ]
}

extension ConformanceTrial {
    /// Sends a request, and returns the field lines with the given lowercase name, as the server received them.
    fileprivate func sentFields(named name: String) async throws -> [String] {
        let log = try await send("/seen")
        expectResponse(log)
        let lines = String(decoding: log.content, as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.lowercased().hasPrefix("\(name):") }.map(String.init)
    }
}
