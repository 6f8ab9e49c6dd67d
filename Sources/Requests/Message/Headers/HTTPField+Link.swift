// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPField {
    /// A link in the header of a response: where it leads, and how that is related to the response (RFC 8288).
    ///
    /// ```swift
    /// // Link: </repos?page=2>; rel="next", </repos?page=9>; rel="last"; title*=UTF-8''Ende
    /// response.link("next")                       // https://api.example.com/repos?page=2
    /// response.links.first { $0.title == "Ende" }
    /// ```
    ///
    /// - Warning: The address is what the server says, and may lead anywhere.
    ///   ``RequestQueue/pages(_:by:prefetching:session:)`` follows such links without the caller's credentials where
    ///   they lead to another origin.
    public struct Link: Sendable, Hashable, DescribedMirror {
        /// The address as it stands in the field; it may be relative.
        public let target: String
        /// The parameters in their order, `rel` and `anchor` included.
        public let parameters: [HTTPField.Parameter]
        /// The address of the response; `nil` if it isn't known.
        public let base: URL?

        /// The kinds of the link, in lower case, such as `next` and `prev`; empty if the link has none.
        ///
        /// Kinds of an application's own are addresses.
        public var relations: [String] {
            let text = self[parameter: "rel"] ?? ""
            return text.lowercasedASCII.split { $0 == " " || $0 == "\t" }.map(String.init)
        }

        /// The text that describes the link to people; that of `title*`, which names its character set, comes first.
        public var title: String? {
            let extended = parameters.lazy.filter { $0.name == "title*" }.compactMap(\.value.decodedExtendedValue)
            return extended.first ?? self[parameter: "title"]
        }

        /// The value of the first parameter of a name; `nil` without one.
        public subscript(parameter name: String) -> String? { parameters[named: name] }

        /// The absolute address that the link leads to; `nil` if it isn't one of `http` or `https`.
        ///
        /// A user and a password in it are left out: they are the server's choice.
        public var url: URL? { URL(reference: target, of: base) }

        /// Whether the link belongs to the response, and not to another resource that its `anchor` names.
        public var isOfResponse: Bool {
            guard let anchor = self[parameter: "anchor"], !anchor.isEmpty else { return true }
            guard let base, let context = URL(reference: anchor, of: base) else { return false }
            return context.withoutFragment == URL(reference: base.absoluteString, of: nil)?.withoutFragment
        }

        /// The link as it stands in a field, with the secrets that may be in its addresses.
        public var rawValue: String {
            parameters.reduce("<\(target)>") { "\($0); \($1)" }
        }

        /// The link as it stands in a field, without the secrets in its addresses.
        public var description: String { Redaction.addresses(in: rawValue) }
    }
}

// MARK: - Parsing

extension HTTPField.Link {
    /// Reads the links of all fields of one response; text that isn't a link ends its field (RFC 8288, B.2).
    ///
    /// So does a link with a quote that is left open, or has text right after it, because a quote is missing before: a
    /// text that a server only quotes never becomes a link. Of a repeated parameter, the first counts.
    ///
    /// - Parameters:
    ///   - values: The values of the fields, in their order.
    ///   - base: The address of the response.
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
        // Elements of the list may be empty (RFC 9110, 5.6.1).
        scanner.skip { " \t,".utf8.contains($0) }
        guard scanner.skip("<") else { return nil }
        let target = scanner.text { $0 != UInt8(ascii: ">") }
        guard scanner.skip(">") else { return nil }
        guard var rest = scanner.restOfMember().map({ FieldScanner($0) }) else { return nil }
        // The text between a target and its parameters is ignored.
        rest.skip { $0 != UInt8(ascii: ";") }
        let parameters = rest.parameters(emptyValue: "").map { parameter in
            HTTPField.Parameter(parameter.name.lowercasedASCII, parameter.value)
        }
        self.init(target: target.trimmedOfBlanks, parameters: parameters, base: base)
    }
}
