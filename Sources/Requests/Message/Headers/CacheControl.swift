// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The caching directives of a message, in their order (RFC 9111, 5.2).
///
/// ```swift
/// let fresh: HTTPField = .cacheControl([.maxAge(.seconds(60)), .noTransform])       // max-age=60, no-transform
/// let control = CacheControl(parsing: response.headers[.cacheControl] ?? "")
/// if control.contains("no-store") || control.maxAge == .zero { … }
/// ```
///
/// Unregistered directives are kept, with their names in lower case.
public struct CacheControl: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The directives, in the order in which they are sent.
    public var directives: [Directive]

    /// Creates a value from directives.
    public init(_ directives: [Directive] = []) {
        self.directives = directives
    }

    /// Creates a value from directives.
    public init(arrayLiteral elements: Directive...) {
        self.init(elements)
    }

    /// Returns whether there is a directive with this name.
    public func contains(_ name: String) -> Bool {
        self[name] != nil
    }

    /// The first directive with this name, or `nil` if there is none.
    public subscript(name: String) -> Directive? {
        directives.first { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// The freshness lifetime of a response, or the maximum age that a request accepts; `nil` if missing or invalid.
    public var maxAge: Duration? { self["max-age"]?.duration }
    /// The time for which a stale response may be used while it is revalidated (RFC 5861).
    public var staleWhileRevalidate: Duration? { self["stale-while-revalidate"]?.duration }
    /// The time for which a stale response may be used if the server can't be reached or fails (RFC 5861).
    public var staleIfError: Duration? { self["stale-if-error"]?.duration }

    /// The directives as they appear in the field.
    public var rawValue: String {
        directives.map(\.description).joined(separator: ", ")
    }

    /// The directives as they appear in the field.
    public var description: String { rawValue }
}

extension CacheControl: HTTPField.Value {
    /// Parses the value of a field, and skips invalid directives, so parsing never fails.
    ///
    /// A directive that restricts caching counts even in an invalid value, so that a response is never stored against
    /// the server's intention.
    ///
    /// - A semicolon separates directives just like a comma, as in `private; no-store`.
    /// - A directive with an invalid argument, or with other text after it, keeps its name.
    /// - If a quote is unterminated or misplaced, or if text directly follows a closing quote, it is ambiguous which
    ///   text is quoted. In that case, every restrictive directive after the first quote counts, wherever it appears,
    ///   and a `max-age` there counts as 0.
    ///
    /// - Complexity: O(n) in the length of the string.
    public init(parsing text: String) {
        self.init(lines: [text])
    }

    /// Parses the lines of a field separately, because an unterminated quote in one line doesn't extend into the next.
    init(lines: some Sequence<String>) {
        self.init()
        var restrictions: [Directive] = []
        for line in lines where !read(line) { restrictions += Self.restrictions(in: line) }
        var names: Set<String> = []
        for restriction in restrictions where names.insert(restriction.name).inserted {
            // If a lifetime is repeated, the first one counts. An existing lifetime may be longer than the restriction,
            // so remove it.
            if restriction.argument != nil { directives.removeAll { $0.name == restriction.name } }
            // `must-understand` would permit storing the response.
            if restriction == .noStore { directives.removeAll { $0.name == "must-understand" } }
            if !contains(restriction.name) { directives.append(restriction) }
        }
    }

    /// Parses a line up to a misplaced quotation mark.
    ///
    /// - Returns: Whether the entire line has been parsed.
    private mutating func read(_ line: String) -> Bool {
        var scanner = FieldScanner(line)
        while true {
            scanner.skip { ",; \t".utf8.contains($0) }
            guard !scanner.isAtEnd else { return true }
            let name = scanner.token()
            scanner.skipBlanks()
            var (argument, isQuoted): (String?, Bool) = (nil, false)
            if scanner.skip("=") {
                scanner.skipBlanks()
                let quoted = scanner.quotedString()
                argument = quoted ?? scanner.text { !",;\"".utf8.contains($0) }.trimmedOfBlanks
                if quoted != nil { scanner.skipBlanks() }
                isQuoted = quoted != nil
            }
            if !isQuoted { scanner.skip { !",;\"".utf8.contains($0) } }
            // Text after a closing quote means that an earlier quote is missing.
            let isBroken = scanner.hasOpenQuote || scanner.next.map { !",;".utf8.contains($0) } ?? false
            if isBroken || argument?.isFieldValue == false { argument = argument.map { _ in "" } }
            if !name.isEmpty { directives.append(Directive(name, argument)) }
            if isBroken { return false }
        }
    }

    /// Returns all restrictive directives after the first quotation mark of a line, even within quoted text.
    private static func restrictions(in line: String) -> [Directive] {
        let words = line.utf8.drop { $0 != UInt8(ascii: "\"") }.split { !ASCIISet.directiveName.contains($0) }
        return words.compactMap { word in
            switch String(Substring(word)).lowercasedASCII {
            case "max-age": .maxAge(.zero)
            case "s-maxage": Directive("s-maxage", "0")
            case let name where restrictiveNames.contains(name): Directive(name)
            default: nil
            }
        }
    }

    private static let restrictiveNames: Set = [
        "no-store", "no-cache", "must-revalidate", "proxy-revalidate", "private", "no-transform",
    ]

    /// Returns the value if all names are tokens and no argument contains a control character.
    ///
    /// - Throws: An ``InvalidValue`` that names the invalid directive.
    public func validated() throws(InvalidValue) -> CacheControl {
        for directive in directives where !directive.name.isToken || directive.argument?.isFieldValue == false {
            let reason = "has an invalid directive"
            throw InvalidValue(in: .cacheControl, reason, excerpt: directive.description)
        }
        return self
    }
}

// MARK: - Directive

extension CacheControl {
    /// A directive with a name and, for some directives, an argument.
    ///
    /// Durations are sent in whole seconds, rounded down. A negative duration is sent as 0.
    public struct Directive: Sendable, Hashable, CustomStringConvertible {
        /// The name, in lower case.
        public let name: String
        /// The unquoted, unescaped argument, or `nil` if the directive has none.
        public let argument: String?

        /// Creates a directive with any name, even one that only servers send, such as `Directive("immutable")`.
        public init(_ name: String, _ argument: String? = nil) {
            self.name = name.lowercasedASCII
            self.argument = argument
        }

        /// The argument as a duration, or `nil` if it isn't a number of seconds.
        ///
        /// Larger numbers are read as 2,147,483,648 seconds (RFC 9111, 1.2.2).
        public var duration: Duration? {
            guard let argument, argument.isNumber else { return nil }
            return .seconds(min(Int64(argument) ?? .max, Self.maximumSeconds))
        }

        /// The directive as it appears in the field.
        public var description: String {
            argument.map { "\(name)=\($0.asParameterValue)" } ?? name
        }

        private init(_ name: String, _ duration: Duration) {
            self.init(name, String(min(max(.zero, duration), .seconds(Self.maximumSeconds)).components.seconds))
        }

        private static let maximumSeconds: Int64 = 2_147_483_648

        /// Accepts a response up to this age, or declares how long a response is fresh.
        public static func maxAge(_ duration: Duration) -> Directive { Directive("max-age", duration) }
        /// Accepts a response that has been stale for at most this long; `nil` accepts any stale response.
        public static func maxStale(_ duration: Duration? = nil) -> Directive {
            duration.map { Directive("max-stale", $0) } ?? Directive("max-stale")
        }
        /// Accepts only a response that stays fresh for at least this long.
        public static func minFresh(_ duration: Duration) -> Directive { Directive("min-fresh", duration) }
        /// Allows a stale response for this long if no new response can be received (RFC 5861).
        public static func staleIfError(_ duration: Duration) -> Directive { Directive("stale-if-error", duration) }

        /// Requires revalidation with the server before the response is used.
        public static let noCache = Directive("no-cache")
        /// Forbids storing the message.
        public static let noStore = Directive("no-store")
        /// Forbids transforming the content.
        public static let noTransform = Directive("no-transform")
        /// Accepts only a response from a cache.
        public static let onlyIfCached = Directive("only-if-cached")
        /// Requires revalidation with the server once the response is stale.
        public static let mustRevalidate = Directive("must-revalidate")
    }
}

extension ASCIISet {
    /// The characters in the names of registered directives.
    fileprivate static let directiveName = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-")
}
