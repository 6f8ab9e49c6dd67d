// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Runs tests of the suite against its server, as its own browser client does.
struct CacheRun: Sendable {
    /// The server that `Scripts/interop` has started; `nil` in any other run.
    static let server = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_CACHE"].flatMap { URL(string: $0) }

    /// The address of the server.
    let server: URL
    /// The client under test.
    let client: HTTPClient

    /// Runs one test.
    ///
    /// - Throws: ``CacheFailure`` for each difference to what is expected, and the errors of requests.
    func run(_ test: CacheTest) async throws {
        let token = UUID().uuidString.lowercased()
        let requests = test.requests.map { json in
            JSONValue.object(
                (json.members ?? [:]).merging(["name": .string(test.name), "id": .string(test.id)]) { $1 }
            )
        }
        var configuration = HTTPRequest(url: server.appending(path: "config/\(token)"), method: .put)
        configuration.body = .json(JSONValue.array(requests))
        guard try await client.send(configuration).status == .created else {
            throw CacheFailure(isSetup: true, reason: "the server doesn't take the test")
        }

        var responses: [HTTPResponse<Data>] = []
        for (index, step) in test.steps.enumerated() {
            let response = try await send(step, number: index + 1, of: test, token, after: responses.last)
            responses.append(response)
            try check(response, of: step, number: index + 1, token)
            if step.isTrue("pause_after") { await pause() }
        }
        let seen = try await client.send(HTTPRequest(url: server.appending(path: "state/\(token)"))).body
        try check(JSONDecoder().decode([JSONValue].self, from: seen), of: test, responses)
    }

    /// Waits until stored responses have become stale by the server's clock, which only real time advances.
    private func pause() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 3) { continuation.resume() }
        }
    }

    private func send(
        _ step: CacheStep,
        number: Int,
        of test: CacheTest,
        _ token: String,
        after last: HTTPResponse<Data>?
    ) async throws -> HTTPResponse<Data> {
        var address = server.appending(path: "test/\(token)").absoluteString
        if let name = step.text("filename") { address += "/\(name)" }
        if let query = step.text("query_arg") { address += "?\(query)" }
        guard let url = URL(string: address) else { throw CacheFailure(isSetup: true, reason: "no address") }
        let now = last?.headers["Server-Now"].flatMap(Double.init).map { Date(timeIntervalSince1970: $0 / 1000) }
        var headers = step.headers(now: now)
        headers["Test-ID"] = test.id
        headers["Req-Num"] = String(number)
        var call = Call(
            url,
            method: HTTPMethod(step.text("request_method") ?? "GET"),
            headers: headers,
            body: step.text("request_body").map { .text($0) } ?? .none
        ) {
            $0.validatesStatus = false
            $0.timeout = .seconds(10)
            if step.text("redirect") == "manual" { $0.redirect = .refuse }
        }
        call.http.cachePolicy = step.cachePolicy
        return try await client.send(call)
    }

    // MARK: Responses

    private func check(_ response: HTTPResponse<Data>, of step: CacheStep, number: Int, _ token: String) throws {
        let sent = response.headers["Server-Request-Count"].flatMap { Int($0) }
        let order = (response.headers["Request-Numbers"] ?? "").split(separator: " ")
        try CacheFailure.check(order.count == Set(order).count, isSetup: true, "response \(number): sent again")
        let isSetup = step.isSetup("expected_type")
        switch step.text("expected_type") {
        case "cached" where !(response.status == .notModified && sent == nil):
            try CacheFailure.check((sent ?? .max) < number, isSetup: isSetup, "response \(number) isn't cached")
        case "not_cached":
            try CacheFailure.check(sent == number, isSetup: isSetup, "response \(number) is cached")
        default: break
        }
        try checkStatus(of: response, step, number)
        try checkFields(of: response, step, number)
        try checkBody(of: response, step, number, token)
    }

    private func checkStatus(of response: HTTPResponse<Data>, _ step: CacheStep, _ number: Int) throws {
        let status = response.status.code
        if let expected = step.json["expected_status"] {
            guard let code = expected.number else { return }
            let reason = "response \(number) has status \(status), not \(code)"
            try CacheFailure.check(status == code, isSetup: step.isSetup("expected_status"), reason)
        } else if let code = step.json["response_status"]?[0]?.number {
            try CacheFailure.check(
                status == code,
                isSetup: true,
                "response \(number) has status \(status), not \(code)"
            )
        } else if status == 999 {
            let reason = "request \(number) isn't conditional"
            try CacheFailure.check(false, isSetup: step.isSetup("expected_type"), reason)
        } else {
            try CacheFailure.check(status == 200, isSetup: true, "response \(number) has status \(status)")
        }
    }

    private func checkFields(of response: HTTPResponse<Data>, _ step: CacheStep, _ number: Int) throws {
        let headers = response.headers
        for field in step.list("expected_response_headers") ?? [] {
            let isSetup = step.isSetup("expected_response_headers")
            if let name = field.text {
                let reason = "response \(number) lacks \(name)"
                try CacheFailure.check(headers.contains(HTTPField.Name(name)), isSetup: isSetup, reason)
            } else if field.elements?.count == 3, let name = field[0]?.text {
                let value = headers[HTTPField.Name(name)]
                let isMet =
                    field[1] == "="
                    ? value == headers[HTTPField.Name(field[2]?.text ?? "")]
                    : (value.flatMap { Int($0) } ?? 0) > (field[2]?.number ?? .max)
                try CacheFailure.check(isMet, isSetup: isSetup, "response \(number) has \(name): \(value ?? "none")")
            } else {
                let (name, expected) = step.written(field, as: headers)
                let reason = "response \(number) has \(name): \(headers[name] ?? "none"), not \(expected ?? "")"
                try CacheFailure.check(headers[name] == expected, isSetup: isSetup, reason)
            }
        }
        for field in step.list("expected_response_headers_missing") ?? [] {
            // With a value, the suite's client compares nothing.
            guard let name = field.text else { continue }
            let isSetup = step.isSetup("expected_response_headers_missing")
            let isMissing = !headers.contains(HTTPField.Name(name))
            try CacheFailure.check(isMissing, isSetup: isSetup, "response \(number) has \(name)")
        }
    }

    private func checkBody(
        of response: HTTPResponse<Data>,
        _ step: CacheStep,
        _ number: Int,
        _ token: String
    ) throws {
        guard step.json["check_body"] != .bool(false) else { return }
        let body = response.text
        if let expected = step.json["expected_response_text"] {
            guard let text = expected.text else { return }
            let isSetup = step.isSetup("expected_response_text")
            try CacheFailure.check(body == text, isSetup: isSetup, "response \(number) is “\(body)”, not “\(text)”")
        } else if let text = step.text("response_body") {
            try CacheFailure.check(body == text, isSetup: true, "response \(number) is “\(body)”, not “\(text)”")
        } else if ![204, 304].contains(response.status.code), step.text("request_method") != "HEAD" {
            try CacheFailure.check(body == token, isSetup: true, "response \(number) is “\(body)”")
        }
    }

    // MARK: The server's view

    private func check(_ seen: [JSONValue], of test: CacheTest, _ responses: [HTTPResponse<Data>]) throws {
        var index = 0
        for (number, (step, response)) in zip(test.steps, responses).enumerated() {
            let type = step.text("expected_type")
            if type == "cached" { continue }
            let request = JSONValue.array(seen)[index]
            let fields = request?["request_headers"]?.members ?? [:]
            let isSetup = step.isSetup("expected_type")
            if type == "not_cached" {
                let isSeen = request?["request_num"]?.number == number + 1
                try CacheFailure.check(isSeen, isSetup: isSetup, "response \(number + 1) is cached")
            }
            index += 1
            if let condition = ["etag_validated": "if-none-match", "lm_validated": "if-modified-since"][type ?? ""] {
                try CacheFailure.check(
                    fields[condition] != nil,
                    isSetup: isSetup,
                    "request \(number + 1) lacks \(condition)"
                )
            }
            try checkRequest(fields, step, number + 1)
            try checkWritten(request, response, number + 1)
            if let method = step.text("expected_method") {
                let isMet = request?["request_method"]?.text == method
                try CacheFailure.check(isMet, isSetup: step.isSetup("expected_method"), "request \(number + 1): method")
            }
        }
    }

    private func checkRequest(_ fields: [String: JSONValue], _ step: CacheStep, _ number: Int) throws {
        for field in step.list("expected_request_headers") ?? [] {
            let isSetup = step.isSetup("expected_request_headers")
            let name = field.text ?? field[0]?.text ?? ""
            let value = fields[name.lowercased()]?.text
            let isMet = field.text == nil ? value == field[1]?.text : value != nil
            try CacheFailure.check(isMet, isSetup: isSetup, "request \(number) has \(name): \(value ?? "none")")
        }
        for field in step.list("expected_request_headers_missing") ?? [] {
            let isSetup = step.isSetup("expected_request_headers_missing")
            let name = field.text ?? field[0]?.text ?? ""
            let value = fields[name.lowercased()]?.text
            let isMet = field.text == nil ? value != field[1]?.text : value == nil
            try CacheFailure.check(isMet, isSetup: isSetup, "request \(number) has \(name): \(value ?? "none")")
        }
    }

    /// Checks that the response has what the server wrote, except for fields that browsers hide.
    private func checkWritten(_ request: JSONValue?, _ response: HTTPResponse<Data>, _ number: Int) throws {
        for field in request?["response_headers"]?.elements ?? [] {
            let name = field[0]?.text ?? ""
            guard !["set-cookie", "set-cookie2", "date"].contains(name.lowercased()) else { continue }
            let values = field[1]?.elements?.compactMap(\.text) ?? [field[1]?.text ?? ""]
            let received = response.headers[values: HTTPField.Name(name)].joined(separator: ", ")
            let isMet = received == values.joined(separator: ", ")
            try CacheFailure.check(isMet, isSetup: true, "response \(number) has \(name): \(received)")
        }
    }
}
