// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPField {
    /// A link in the header of a response, with its target and its relation to the response (RFC 8288).
    ///
    /// ```swift
    /// // Link: </repos?page=2>; rel="next", </repos?page=9>; rel="last"; title*=UTF-8''Ende
    /// response.link("next")                       // https://api.example.com/repos?page=2
    /// response.links.first { $0.title == "Ende" }
    /// ```
    ///
    /// - Warning: The target comes from the server and may lead anywhere. If a link leads to another origin,
    ///   ``RequestQueue/pages(_:by:prefetching:session:)`` follows it without the caller's credentials.
    public struct Link: Sendable, Hashable, DescribedMirror {
        /// The target URL as it appears in the field; it may be relative.
        public let target: String
        /// The parameters in their order, including `rel` and `anchor`.
        public let parameters: [HTTPField.Parameter]
        /// The URL of the response; `nil` if it isn't known.
        public let base: URL?

        /// The relation types of the link, in lower case, such as `next` and `prev`; empty if the link has none.
        ///
        /// Relation types defined by applications are URLs.
        public var relations: [String] {
            let text = self[parameter: "rel"] ?? ""
            return text.lowercasedASCII.split { $0 == " " || $0 == "\t" }.map(String.init)
        }

        /// The human-readable title of the link.
        ///
        /// A `title*` parameter, which specifies its character set, takes precedence.
        public var title: String? {
            let extended = parameters.lazy.filter { $0.name == "title*" }.compactMap(\.value.decodedExtendedValue)
            return extended.first ?? self[parameter: "title"]
        }

        /// The value of the first parameter with this name; `nil` if there is none.
        public subscript(parameter name: String) -> String? { parameters[named: name] }

        /// The absolute target URL; `nil` if its scheme isn't `http` or `https`.
        ///
        /// A user and a password in the target are removed, because the server has chosen them.
        public var url: URL? { URL(reference: target, of: base) }

        /// Whether the link belongs to the response, rather than to another resource that its `anchor` specifies.
        public var isOfResponse: Bool {
            guard let anchor = self[parameter: "anchor"], !anchor.isEmpty else { return true }
            guard let base, let context = URL(reference: anchor, of: base) else { return false }
            return context.withoutFragment == URL(reference: base.absoluteString, of: nil)?.withoutFragment
        }

        /// The link as it appears in a field, including any secrets in its URLs.
        public var rawValue: String {
            parameters.reduce("<\(target)>") { "\($0); \($1)" }
        }

        /// The link as it appears in a field, without the secrets in its URLs.
        public var description: String { Redaction.addresses(in: rawValue) }
    }
}

// MARK: - Parsing

extension HTTPField.Link {
    /// Parses the links in all `Link` fields of a response, each field up to the first text that isn't a link (RFC
    /// 8288, B.2).
    ///
    /// Parsing of a field also stops at a link with an unterminated quote, or with text directly after a closing quote,
    /// which means that an earlier quote is missing. This way, text that a server quotes can never become a link. If a
    /// parameter is repeated, the first one is used.
    ///
    /// - Parameters:
    ///   - values: The values of the fields, in their order.
    ///   - base: The URL of the response.
    /// - Returns: The links, in their order.
    /// - Complexity: O(n) in the length of the values.
    public static func parse(_ values: some Sequence<String>, of base: URL? = nil) -> [HTTPField.Link] {
        values.flatMap { value -> [HTTPField.Link] in
            var scanner = FieldScanner(value)
            var links: [HTTPField.Link] = []
            while !scanner.hasMisplacedQuote, let link = HTTPField.Link(from: &scanner, of: base) { links.append(link) }
            return links
        }
    }

    private init?(from scanner: inout FieldScanner, of base: URL?) {
        // List elements may be empty (RFC 9110, 5.6.1).
        scanner.skip { " \t,".utf8.contains($0) }
        guard scanner.skip("<") else { return nil }
        let target = scanner.text { $0 != UInt8(ascii: ">") }
        guard scanner.skip(">") else { return nil }
        guard var rest = scanner.restOfMember().map({ FieldScanner($0) }) else { return nil }
        // Ignore text between the target and its parameters.
        rest.skip { $0 != UInt8(ascii: ";") }
        let parameters = rest.parameters(emptyValue: "").map { parameter in
            HTTPField.Parameter(parameter.name.lowercasedASCII, parameter.value)
        }
        self.init(target: target.trimmedOfBlanks, parameters: parameters, base: base)
    }
}
