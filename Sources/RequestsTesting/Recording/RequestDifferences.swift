// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Collects the differences of a request from its expectation, up to a limit that is still readable.
struct RequestDifferences {
    static let limit = 20
    private(set) var all: [RequestDifference] = []

    mutating func add(_ place: String, expected: String?, actual: String?) {
        guard all.count < Self.limit else { return }
        all.append(
            RequestDifference(
                place: place.shortened(to: 128),
                expected: expected?.shortened(to: 128),
                actual: actual?.shortened(to: 128)
            )
        )
    }

    mutating func compare(_ place: String, _ expected: String, _ actual: String) {
        if expected != actual { add(place, expected: expected, actual: actual) }
    }

    mutating func compare(_ expected: AddressPieces, _ actual: AddressPieces) {
        compare("scheme", expected.scheme, actual.scheme)
        compare("host", expected.host, actual.host)
        if expected.port != actual.port {
            add("port", expected: expected.port.map(String.init), actual: actual.port.map(String.init))
        }
        compare("path", expected.path, actual.path)
        let query = Query(percentEncoded: actual.query ?? "")
        compare("query", Query(percentEncoded: expected.query ?? ""), query)
    }

    /// Compares items of one name in their order, and those of different names in any order.
    mutating func compare(_ place: String, _ expected: Query, _ actual: Query) {
        var names: [String] = []
        for item in Array(expected) + Array(actual) where !names.contains(item.name) { names.append(item.name) }
        for name in names {
            let wanted = expected.filter { $0.name == name }.map(\.value)
            let values = actual.filter { $0.name == name }.map(\.value)
            guard wanted != values else { continue }
            let shown =
                name.isPlainName
                ? name : Redaction.shown(Data(name.utf8), type: nil).map { String(decoding: $0, as: UTF8.self) }
            let isSecret = shown == nil || Redaction.namesSecret(name)
            add(
                "\(place) \(shown ?? "<redacted>")",
                expected: Self.text(wanted, isSecret),
                actual: Self.text(values, isSecret)
            )
        }
    }

    private static func text(_ values: [String?], _ isSecret: Bool) -> String? {
        guard !values.isEmpty else { return nil }
        return values.map { value in isSecret ? "<redacted>" : value.map { "\"\($0)\"" } ?? "no value" }
            .joined(separator: ", ")
    }

    mutating func compare(_ expected: HTTPHeaders, _ actual: HTTPHeaders) {
        for name in expected.names {
            let wanted = expected[fields: name]
            let fields = actual[fields: name]
            guard wanted.map(\.value) != fields.map(\.value) else { continue }
            add("header \(name)", expected: Self.text(wanted), actual: Self.text(fields))
        }
    }

    private static func text(_ fields: [HTTPField]) -> String? {
        fields.isEmpty ? nil : fields.map(Redaction.value).joined(separator: ", ")
    }

    mutating func compare(_ expected: ExpectedRequest.Content, _ request: StubbedRequest) {
        guard !request.isBodyHidden else {
            return add("body", expected: "content", actual: "content that this platform doesn't show")
        }
        switch expected {
        case .json(let value): compare(value, request, isWhole: true)
        case .jsonContaining(let value): compare(value, request, isWhole: false)
        case .form(let form): compare(form, request)
        case .text(let text): compare(Data(text.utf8), request)
        case .data(let data): compare(data, request)
        }
    }

    private mutating func compare(_ expected: JSONValue, _ request: StubbedRequest, isWhole: Bool) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: request.body) else {
            let actual = request.body.isEmpty ? nil : "\(request.bodyExcerpt), which isn't JSON"
            return add("body", expected: "JSON", actual: actual)
        }
        for difference in value.differences(from: expected, isWhole: isWhole, limit: Self.limit) {
            add("body\(difference.path)", expected: difference.expected, actual: difference.actual)
        }
    }

    private mutating func compare(_ expected: Query, _ request: StubbedRequest) {
        var differences = RequestDifferences()
        differences.compare("form", expected, request.form)
        // If the content isn't a form, its parsed names and values are meaningless.
        guard differences.all.isEmpty || request.body.mayBeForm else {
            return add("body", expected: "a form", actual: "\(request.bodyExcerpt), which isn't a form")
        }
        for difference in differences.all {
            add(difference.place, expected: difference.expected, actual: difference.actual)
        }
    }

    private mutating func compare(_ wanted: Data, _ request: StubbedRequest) {
        guard wanted != request.body else { return }
        guard let expected = Redaction.shown(wanted, of: request.headers),
            let actual = Redaction.shown(request.body, of: request.headers)
        else {
            let actual = request.body.isEmpty ? nil : request.body.secretSummary
            return add("body", expected: wanted.isEmpty ? nil : wanted.secretSummary, actual: actual)
        }
        guard expected != actual else { return add("body", expected: "<redacted>", actual: "<redacted>") }
        guard !actual.isEmpty else { return add("body", expected: "\(expected.count) bytes", actual: nil) }
        guard !expected.isEmpty else { return add("body", expected: nil, actual: "\(actual.count) bytes") }
        let index = zip(expected, actual).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let place = index ?? min(expected.count, actual.count)
        add("body[\(place)]", expected: expected.excerpt(around: place), actual: actual.excerpt(around: place))
    }
}

extension StubbedRequest {
    /// The beginning of the content in quotes, without its secrets.
    ///
    /// A form that was sent instead of JSON may have a password, and many people may read a failure.
    fileprivate var bodyExcerpt: String {
        let shown = Redaction.shown(body, of: headers)
        return shown.map { "\"\(String(decoding: $0, as: UTF8.self).shortened())\"" } ?? body.secretSummary
    }
}

extension String {
    /// Whether the text is a usual parameter name, such as `user[first-name]`.
    fileprivate var isPlainName: Bool {
        utf8.allSatisfy { ASCII.isLetter(ASCII.lowercased($0)) || ASCII.isDigit($0) || "_-.[]$".utf8.contains($0) }
    }
}

extension Data {
    /// Whether every byte may occur in a form.
    fileprivate var mayBeForm: Bool {
        allSatisfy { $0 > 0x20 && $0 != 0x7F && !"\"<>\\{}".utf8.contains($0) }
    }

    /// The text that replaces content that may not be shown.
    fileprivate var secretSummary: String { "\(count) bytes <redacted>" }

    /// Returns some bytes around a place, as digits and as text, and the total byte count.
    fileprivate func excerpt(around place: Int) -> String {
        let piece = dropFirst(Swift.max(0, place - 6)).prefix(14)
        let digits = piece.map { byte in
            let text = String(byte, radix: 16)
            return text.count < 2 ? "0\(text)" : text
        }
        let text = String(decoding: piece.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
        return "\(digits.joined(separator: " ")) “\(text)” of \(count) bytes"
    }
}
