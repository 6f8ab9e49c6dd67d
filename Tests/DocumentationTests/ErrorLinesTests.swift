// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The table of the article about errors: for each code, the line that a printed error gives.
@Suite(.bounded) struct ErrorLinesTests {
    private static let todo = HTTPRequest("https://example.com/todos/1?token=abc")
    private static let page = HTTPResponseHead(status: .ok, headers: [.contentType: "text/html"])
    private static let film = URL(filePath: "/films/film.mov")

    private enum Consent: Error { case missing }

    private struct Todo: Decodable {
        let id: Int
    }

    private static func error(
        _ code: RequestError.Code,
        _ phase: RequestError.Phase,
        _ reason: String? = nil,
        _ response: HTTPResponseHead? = nil,
        _ underlying: (any Error)? = nil
    ) -> RequestError {
        let isRefresh = [.authenticationFailed, .excessiveRefresh, .refreshTimedOut].contains(code)
        let request = phase == .waiting || phase == .building && !isRefresh ? nil : todo
        return RequestError(
            code,
            phase: phase,
            reason: reason,
            request: request,
            response: response,
            underlying: underlying
        )
    }

    private static func decodingError() -> (any Error)? {
        do {
            _ = try JSONDecoder().decode([Todo].self, from: Data(#"[{"id": "one"}]"#.utf8))
            return nil
        } catch {
            return error
        }
    }

    private static func alreadyRead() -> (any Error)? {
        let body = HTTPBody.Stream(InputStream(data: Data()))
        do {
            _ = try body.open()
            _ = try body.open()
            return nil
        } catch {
            return error
        }
    }

    static let errors: [RequestError] = [
        error(.cancelled, .waiting),
        error(.deadlineExceeded, .waiting, "the deadline of 30.0 seconds has passed"),
        error(
            .dependencyFailed,
            .building,
            nil,
            nil,
            error(.offline, .building, "no network connection for 5.0 seconds")
        ),
        error(.dependencyCycle, .waiting, "the operation would wait for itself"),
        error(.conditionFailed, .building, nil, nil, Consent.missing),
        RequestError(InvalidValue(.url, "is relative, but there is no base URL", excerpt: "todos/1")),
        error(
            .encoding,
            .building,
            nil,
            nil,
            EncodingError.invalidValue(Double.nan, .init(codingPath: [], debugDescription: ""))
        ),
        error(.bodyNotReplayable, .building, nil, nil, alreadyRead()),
        error(
            .authenticationFailed,
            .building,
            nil,
            nil,
            error(.unacceptableStatus, .validating, nil, HTTPResponseHead(status: .badRequest))
        ),
        error(.excessiveRefresh, .building, "reached the limit of 5 refreshes within 30.0 seconds"),
        error(.refreshTimedOut, .building, "the credential wasn't refreshed within 30.0 seconds"),
        error(.nestingLimitReached, .building, "nested requests exceed the limit of 8 levels: Signature → Signature"),
        error(.other, .building, nil, nil, NSError(domain: "Kitchen", code: 7)),
        error(.offline, .sending, nil, nil, URLError(.notConnectedToInternet)),
        error(.cannotConnect, .sending, nil, nil, URLError(.cannotConnectToHost)),
        error(
            .proxyRefused,
            .sending,
            "the proxy refused to open a tunnel",
            HTTPResponseHead(status: .proxyAuthenticationRequired)
        ),
        error(.untrusted, .sending, "the server's certificate has expired"),
        error(.timedOut, .sending, "no data for 60.0 seconds"),
        error(.connectionLost, .receiving, nil, page, URLError(.networkConnectionLost)),
        error(.unsupported, .sending, "URLSession can't send a body with GET"),
        error(.notCached, .sending),
        error(.closed, .sending, "the transport was closed"),
        error(.badResponse, .receiving, "the response isn't an HTTP response"),
        error(.headTooLarge, .receiving, "the response head exceeds 262144 bytes"),
        error(.bodyTooLarge, .receiving, "the content exceeds 67108864 bytes", page),
        error(.bufferFull, .receiving, "more than 262144 bytes are waiting to be consumed", page),
        error(
            .alreadyConsumed,
            .receiving,
            "another loop is consuming the stream, or has consumed it, and the content isn't kept",
            page
        ),
        RequestError(FileError(.fileExists, film, "the download may not replace it")),
        RequestError(FileError(.cannotWriteFile, film, "Permission denied")),
        RequestError(FileError(.diskFull, film, "No space left on device")),
        error(.digestMismatch, .validating, "the digest of the file “film.mov” isn't the expected one", page),
        error(.unacceptableStatus, .validating, nil, HTTPResponseHead(status: .notFound)),
        error(
            .unacceptableContentType,
            .validating,
            "the content type is text/html, but the request accepts only application/json",
            page
        ),
        error(.emptyResponse, .decoding, nil, HTTPResponseHead(status: .ok)),
        error(.unexpectedBody, .decoding, "12 bytes of content", page),
        error(.rejected, .validating, nil, page, Consent.missing),
        error(.retryLimitReached, .validating, "the validator's limit of 3 retries was reached", page),
        error(.tooManyRedirects, .validating, "more than 10 redirects", HTTPResponseHead(status: .found)),
        error(
            .badRedirect,
            .validating,
            "the location “mailto:ada” isn't an http or https URL",
            HTTPResponseHead(status: .found)
        ),
        error(
            .redirectRefused,
            .validating,
            "the redirect would send the body to another origin",
            HTTPResponseHead(status: .temporaryRedirect)
        ),
        error(
            .pagingFailed,
            .validating,
            "the link “https://example.com/todos” leads back to an earlier page",
            page
        ),
        error(.decoding, .decoding, "can't decode Array<Todo>", page, decodingError()),
        error(.notModified, .decoding, nil, HTTPResponseHead(status: .notModified)),
    ]

    private func text(_ path: String) throws -> String {
        try String(contentsOf: SnippetTests.root.appending(path: path), encoding: .utf8)
    }

    @Test func errorCodesHaveLogLines() throws {
        let source = try text("Sources/Requests/Response/RequestError+Code.swift")
        let names = source.components(separatedBy: "= Code(\"").dropFirst().compactMap {
            $0.split(separator: "\"").first
        }

        #expect(Set(names.map(String.init)).symmetricDifference(Self.errors.map(\.code.name)) == [])
    }

    @Test func errorCodesHaveRemedies() throws {
        let article = try text("Sources/Requests/Requests.docc/Articles/Troubleshooting.md")
        let cells = article.components(separatedBy: "\n").compactMap { $0.components(separatedBy: " | ").first }
        let missing = Self.errors.map(\.code.name).filter { name in !cells.contains { $0.contains("`\(name)`") } }

        #expect(missing == [])
    }

    @Test func articleContainsPrintedLines() throws {
        let article = try text("Sources/Requests/Requests.docc/Articles/HandlingErrors.md")
        let printed = Self.errors.map { "| `\($0)` |" }
        let lines = article.components(separatedBy: "\n")
        let missing = printed.filter { !lines.contains($0) }

        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    }
}
