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
        error(.deadlineExceeded, .waiting, "the request may take 30.0 seconds in all"),
        error(
            .dependencyFailed,
            .building,
            nil,
            nil,
            error(.offline, .building, "there has been no network for 5.0 seconds")
        ),
        error(.dependencyCycle, .waiting, "the operation would wait for itself"),
        error(.conditionFailed, .building, nil, nil, Consent.missing),
        RequestError(InvalidValue(.url, "is relative, and there is no base URL", excerpt: "todos/1")),
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
        error(.excessiveRefresh, .building, "5 refreshes within 30.0 seconds"),
        error(.refreshTimedOut, .building, "the credential was not refreshed within 30.0 seconds"),
        error(.nestingLimitReached, .building, "Signature sends a request that meets Signature, more than 8 deep"),
        error(.other, .building, nil, nil, NSError(domain: "Kitchen", code: 7)),
        error(.offline, .sending, nil, nil, URLError(.notConnectedToInternet)),
        error(.cannotConnect, .sending, nil, nil, URLError(.cannotConnectToHost)),
        error(
            .proxyRefused,
            .sending,
            "the proxy makes no tunnel",
            HTTPResponseHead(status: .proxyAuthenticationRequired)
        ),
        error(.untrusted, .sending, "the certificate has expired"),
        error(.timedOut, .sending, "no data for 60.0 seconds"),
        error(.connectionLost, .receiving, nil, page, URLError(.networkConnectionLost)),
        error(.unsupported, .sending, "URLSession sends no body with GET"),
        error(.notCached, .sending),
        error(.closed, .sending, "the transport was closed"),
        error(.badResponse, .receiving, "the response isn't one of HTTP"),
        error(.headTooLarge, .receiving, "the head has more than 262144 bytes"),
        error(.bodyTooLarge, .receiving, "more than 67108864 bytes", page),
        error(.bufferFull, .receiving, "more than 262144 bytes wait to be consumed", page),
        error(
            .alreadyConsumed,
            .receiving,
            "another loop consumes the stream, or has consumed it, and its content isn't kept",
            page
        ),
        RequestError(FileError(.fileExists, film, "the download may not replace it")),
        RequestError(FileError(.cannotWriteFile, film, "Permission denied")),
        RequestError(FileError(.diskFull, film, "No space left on device")),
        error(.digestMismatch, .validating, "the file “film.mov” has another digest than expected", page),
        error(.unacceptableStatus, .validating, nil, HTTPResponseHead(status: .notFound)),
        error(
            .unacceptableContentType,
            .validating,
            "the content is text/html, and application/json is accepted",
            page
        ),
        error(.emptyResponse, .decoding, nil, HTTPResponseHead(status: .ok)),
        error(.unexpectedBody, .decoding, "12 bytes of content", page),
        error(.rejected, .validating, nil, page, Consent.missing),
        error(.retryLimitReached, .validating, "a validator may have the request sent again 3 times", page),
        error(.tooManyRedirects, .validating, "more than 10 redirects", HTTPResponseHead(status: .found)),
        error(
            .badRedirect,
            .validating,
            "the location “mailto:ada” is no web address",
            HTTPResponseHead(status: .found)
        ),
        error(
            .redirectRefused,
            .validating,
            "another origin asks for the body",
            HTTPResponseHead(status: .temporaryRedirect)
        ),
        error(
            .pagingFailed,
            .validating,
            "the link “https://example.com/todos” leads to a page that was there before",
            page
        ),
        error(.decoding, .decoding, "the value is of type Array<Todo>", page, decodingError()),
        error(.notModified, .decoding, nil, HTTPResponseHead(status: .notModified)),
    ]

    private func text(_ path: String) throws -> String {
        try String(contentsOf: SnippetTests.root.appending(path: path), encoding: .utf8)
    }

    @Test func everyCodeHasALine() throws {
        let source = try text("Sources/Requests/Response/RequestError+Code.swift")
        let names = source.components(separatedBy: "= Code(\"").dropFirst().compactMap {
            $0.split(separator: "\"").first
        }

        #expect(Set(names.map(String.init)).symmetricDifference(Self.errors.map(\.code.name)) == [])
    }

    @Test func everyCodeHasARemedy() throws {
        let article = try text("Sources/Requests/Requests.docc/Articles/Troubleshooting.md")
        let cells = article.components(separatedBy: "\n").compactMap { $0.components(separatedBy: " | ").first }
        let missing = Self.errors.map(\.code.name).filter { name in !cells.contains { $0.contains("`\(name)`") } }

        #expect(missing == [])
    }

    @Test func theArticleHasTheLinesThatArePrinted() throws {
        let article = try text("Sources/Requests/Requests.docc/Articles/HandlingErrors.md")
        let printed = Self.errors.map { "| `\($0)` |" }
        let lines = article.components(separatedBy: "\n")
        let missing = printed.filter { !lines.contains($0) }

        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    }
}
