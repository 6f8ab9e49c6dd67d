// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// A component of a URL that a comparison may ignore.
    public enum AddressPart: Sendable, Hashable {
        /// The scheme, `https` or `http`, including its default port.
        case scheme
        /// The host.
        case host
        /// The port.
        case port
        /// The path.
        case path
        /// The query.
        case query
    }

    /// Matches requests for this URL, whatever the ignored parts of either URL contain.
    ///
    /// URLs are compared after normalization (RFC 3986, 6.2.2). The case of scheme and host, a default port, and an
    /// empty path make no difference. Credentials, the fragment (which is never sent), and the order of parameters with
    /// different names are ignored too.
    public static func url(_ url: URL, ignoring ignored: Set<AddressPart> = []) -> StubCondition {
        let expected = AddressComponents(url)
        return StubCondition("URL \(ReceivedRequest(url: url).redactedAddress)") { request in
            AddressComponents(request.url).difference(from: expected, ignoring: ignored)
        }
    }

    /// Matches requests for this URL, whatever the ignored parts of either URL contain.
    public static func url(_ text: String, ignoring ignored: Set<AddressPart> = []) -> StubCondition {
        guard let url = URL(lenient: text) else {
            return StubCondition("URL \(text)") { _ in "\"\(text.shortened())\" isn't a valid URL" }
        }
        return .url(url, ignoring: ignored)
    }

    /// Matches requests whose URL, as it is sent, matches the regular expression.
    public static func url(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return StubCondition("URL matching \(pattern)") { request in
            pattern.mismatch(of: [request.url.absoluteString], what: "the URL \(request.redactedAddress)")
        }
    }

    /// Matches requests whose URL, or the part after its origin, is an expansion of the template.
    ///
    /// The values of its variables are in ``ReceivedRequest/variables``. A template without a query matches any query.
    /// A template of level 4 (`{x*}`, `{x:3}`) matches nothing, because its values can't be separated.
    public static func template(_ template: URITemplate) -> StubCondition {
        let ignoresQuery = !template.description.contains("?") && !template.description.contains("{&")
        let fault = Result { try URITemplate(template.description) }.fault
        return StubCondition("URI template \(template)") { request in
            if let fault { return .mismatch("the template \(template) is malformed: \(fault)") }
            var components = AddressComponents(request.url)
            if ignoresQuery { components.query = nil }
            // Also match the request target as it was sent, because it may not be a valid URL.
            let reference = ignoresQuery ? request.path : request.target
            guard let values = template.extract(from: components.text) ?? template.extract(from: reference) else {
                return .mismatch("the URL \(request.redactedAddress) doesn't match the template \(template)")
            }
            return .match(values)
        }
    }

    /// Matches requests to this host, ignoring case.
    public static func host(_ host: String) -> StubCondition {
        StubCondition("host \(host)") { request in
            let actual = AddressComponents(request.url).host
            return actual == host.lowercased() ? nil : "the host is \(actual.shortened()), not \(host.shortened())"
        }
    }

    /// Matches requests with this path, which may be given percent-encoded or decoded.
    ///
    /// A `/` separates segments; write a slash within a segment as `%2F`.
    public static func path(_ path: String) -> StubCondition {
        StubCondition("path \(path)") { request in
            let actual = request.path
            guard !actual.isPath(path) else { return nil }
            return "the path is \(actual.shortened(to: 128)), not \(path.shortened(to: 128))"
        }
    }

    /// Matches requests whose URL has exactly these parameters, in any order.
    public static func query(_ query: Query) -> StubCondition {
        StubCondition("query \(query)") { $0.query.mismatch(with: query, isExact: true, what: "parameter") }
    }

    /// Matches requests whose URL has these parameters, and possibly others.
    public static func query(containing query: Query) -> StubCondition {
        StubCondition("query containing \(query)") {
            $0.query.mismatch(with: query, isExact: false, what: "parameter")
        }
    }
}

extension AddressComponents {
    /// Returns a description of the differences; `nil` if the URLs are equivalent.
    func difference(from expected: AddressComponents, ignoring ignored: Set<StubCondition.AddressPart>) -> String? {
        var differences: [String] = []
        func compare(_ part: StubCondition.AddressPart, _ name: String, _ actual: String, _ expected: String) {
            guard !ignored.contains(part), actual != expected else { return }
            differences.append("the \(name) is \(actual.shortened(to: 128)), not \(expected.shortened(to: 128))")
        }
        compare(.scheme, "scheme", scheme, expected.scheme)
        compare(.host, "host", host, expected.host)
        compare(.port, "port", port.map(String.init) ?? "the default", expected.port.map(String.init) ?? "the default")
        compare(.path, "path", path, expected.path)
        if !ignored.contains(.query) {
            let query = Query(percentEncoded: query ?? "")
            let expectedQuery = Query(percentEncoded: expected.query ?? "")
            if let reason = query.mismatch(with: expectedQuery, isExact: true, what: "parameter") {
                differences.append(reason)
            }
        }
        return differences.isEmpty ? nil : differences.joined(separator: ", ")
    }
}

extension Query {
    /// Returns a description of the first item that is missing, different or unexpected; values with secret names
    /// aren't shown.
    ///
    /// Items with the same name are compared in order; items with different names may be in any order.
    func mismatch(with expected: Query, isExact: Bool, what: String) -> String? {
        for name in Set(expected.map(\.name)).sorted() {
            let values = filter { $0.name == name }.map(\.value)
            let expectedValues = expected.filter { $0.name == name }.map(\.value)
            if values.isEmpty { return "the \(what) \(name.displayName) is missing" }
            guard isExact ? values != expectedValues : !expectedValues.allSatisfy(values.contains) else { continue }
            guard !name.isSecretName else { return "the \(what) \(name.displayName) has a different value" }
            return "the \(what) \(name.shortened()) is \(Self.shown(values)), not \(Self.shown(expectedValues))"
        }
        guard isExact, let stray = first(where: { !expected.contains($0.name) }) else { return nil }
        return "the \(what) \(stray.name.displayName) isn't expected"
    }

    private static func shown(_ values: [String?]) -> String {
        values.map { value in value.map { "\"\(Redaction.text($0).shortened())\"" } ?? "without a value" }
            .joined(separator: " and ")
    }
}

extension String {
    /// Whether the value of a parameter with this name may be a secret.
    fileprivate var isSecretName: Bool { !isPlainName || Redaction.isSecretName(self) }

    /// The name for messages; only its size if the name itself may contain a secret, because content that isn't a form
    /// is parsed as one long name.
    fileprivate var displayName: String { isPlainName ? shortened() : "of \(utf8.count) bytes" }

    private var isPlainName: Bool {
        utf8.allSatisfy { ASCII.isLetter(ASCII.lowercased($0)) || ASCII.isDigit($0) || "_-.[]$".utf8.contains($0) }
    }
}

extension Result {
    fileprivate var fault: String? {
        guard case .failure(let error) = self else { return nil }
        return "\(error)".shortened(to: 128)
    }
}

/// The components of a URL after normalization (RFC 3986, 6.2.2), so that equivalent URLs are equal.
struct AddressComponents: Equatable {
    var scheme: String
    var host: String
    /// The port; `nil` if it is the scheme's default.
    var port: Int?
    var path: String
    var query: String?

    init(_ url: URL) {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        scheme = (components?.scheme ?? "").lowercased()
        host = (components?.percentEncodedHost ?? "").lowercased()
        let defaultPort = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        port = components?.port == defaultPort ? nil : components?.port
        let path = (components?.percentEncodedPath ?? "").withUppercaseTriplets
        self.path = path.isEmpty ? "/" : path
        query = components?.percentEncodedQuery
    }

    /// The URL as a string, without credentials or fragment.
    var text: String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(path)\(query.map { "?\($0)" } ?? "")"
    }
}

extension String {
    /// Returns whether a percent-encoded path equals `path`, which may be percent-encoded or decoded.
    ///
    /// Segments are decoded separately, so a `%2F` within a segment doesn't separate anything.
    func isPath(_ path: String) -> Bool {
        if withUppercaseTriplets == path.withUppercaseTriplets { return true }
        let names = split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding }
        return names == path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    }

    /// The string with the hex digits of each `%XX` in upper case, because `%2f` and `%2F` are equivalent.
    var withUppercaseTriplets: String {
        contains("%") ? replacing(/%[0-9a-fA-F]{2}/) { $0.output.uppercased() } : self
    }
}

/// A regular expression from a test, which may be invalid.
struct StubPattern: Sendable, CustomStringConvertible {
    private let text: String
    private let expression: NSRegularExpression?

    init(_ text: String) {
        self.text = text
        expression = try? NSRegularExpression(pattern: text)
    }

    var description: String { "/\(text.shortened())/" }

    /// Returns a reason if no string matches; `nil` if one does.
    func mismatch(of texts: [String], what: @autoclosure () -> String) -> String? {
        guard let expression else { return "\(self) isn't a valid regular expression" }
        let isMet = texts.contains { text in
            expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
        return isMet ? nil : "\(what()) doesn't match \(self)"
    }
}
