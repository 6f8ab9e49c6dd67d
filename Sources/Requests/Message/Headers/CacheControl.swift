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

    /// Makes a value of directives.
    public init(_ directives: [Directive] = []) {
        self.directives = directives
    }

    /// Makes a value of directives.
    public init(arrayLiteral elements: Directive...) {
        self.init(elements)
    }

    /// Whether there is a directive of the name.
    public func contains(_ name: String) -> Bool {
        self[name] != nil
    }

    /// The first directive of the name, or `nil` if the value doesn't have it.
    public subscript(name: String) -> Directive? {
        directives.first { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// The time for which a response is fresh, or its maximum age; `nil` if it is missing or isn't a number.
    public var maxAge: Duration? { self["max-age"]?.duration }
    /// The time for which the stale response may be used while a new one is requested (RFC 5861).
    public var staleWhileRevalidate: Duration? { self["stale-while-revalidate"]?.duration }
    /// The time for which the stale response may be used if a new one can't be received (RFC 5861).
    public var staleIfError: Duration? { self["stale-if-error"]?.duration }

    /// The directives as they stand in the field.
    public var rawValue: String {
        directives.map(\.description).joined(separator: ", ")
    }

    /// The value as it stands in the field.
    public var description: String { rawValue }
}

extension CacheControl: HTTPField.Value {
    /// Reads the value of a field; invalid directives are skipped, so that any text can be read.
    ///
    /// Whatever forbids something counts, even in a value that is invalid: a response that a server wants nobody to
    /// store is never stored.
    ///
    /// - A semicolon separates directives as a comma does, as in `private; no-store`.
    /// - A directive with an invalid argument, or with other text after it, keeps its name.
    /// - If a quote is left open, is where none may be, or has text after it, nothing shows which text it encloses. Then
    ///   each directive counts that forbids something and stands anywhere after the first quote, and a `max-age` there
    ///   counts as 0.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init(parsing text: String) {
        self.init(lines: [text])
    }

    /// Reads the lines of a field, each alone: a quote that is open in one doesn't enclose the next.
    init(lines: some Sequence<String>) {
        self.init()
        var restrictions: [Directive] = []
        for line in lines where !read(line) { restrictions += Self.restrictions(in: line) }
        var names: Set<String> = []
        for restriction in restrictions where names.insert(restriction.name).inserted {
            // Of several lifetimes the first counts, which may be longer.
            if restriction.argument != nil { directives.removeAll { $0.name == restriction.name } }
            // It would allow what the other one forbids.
            if restriction == .noStore { directives.removeAll { $0.name == "must-understand" } }
            if !contains(restriction.name) { directives.append(restriction) }
        }
    }

    /// Reads a line up to a misplaced quote.
    ///
    /// - Returns: Whether the line has none.
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
            // Text after a closing quote shows that a quote before it is missing.
            let isBroken = scanner.hasOpenQuote || scanner.next.map { !",;".utf8.contains($0) } ?? false
            if isBroken || argument?.isFieldValue == false { argument = argument.map { _ in "" } }
            if !name.isEmpty { directives.append(Directive(name, argument)) }
            if isBroken { return false }
        }
    }

    /// The directives after the first quote of a line that forbid something, wherever they stand.
    private static func restrictions(in line: String) -> [Directive] {
        let words = line.utf8.drop { $0 != UInt8(ascii: "\"") }.split { !ASCIISet.directiveName.contains($0) }
        return words.compactMap { word in
            switch String(Substring(word)).lowercasedASCII {
            case "max-age": .maxAge(.zero)
            case "s-maxage": Directive("s-maxage", "0")
            case let name where restricting.contains(name): Directive(name)
            default: nil
            }
        }
    }

    private static let restricting: Set = [
        "no-store", "no-cache", "must-revalidate", "proxy-revalidate", "private", "no-transform",
    ]

    /// The value itself, if names are tokens and arguments have no control character.
    ///
    /// - Throws: ``InvalidValue`` that names the invalid directive.
    public func validated() throws(InvalidValue) -> CacheControl {
        for directive in directives where !directive.name.isToken || directive.argument?.isFieldValue == false {
            let reason = "of Cache-Control has an invalid directive"
            throw InvalidValue(.headerValue, reason, excerpt: directive.description)
        }
        return self
    }
}

// MARK: - Directive

extension CacheControl {
    /// One directive: a name and, for some, an argument.
    ///
    /// Durations are sent in whole seconds, rounded down; a negative one is sent as 0.
    public struct Directive: Sendable, Hashable, CustomStringConvertible {
        /// The name, in lower case.
        public let name: String
        /// The argument, without quotes and escapes, or `nil` if the directive has none.
        public let argument: String?

        /// Makes a directive of any name, even one that only servers send, such as `Directive("immutable")`.
        public init(_ name: String, _ argument: String? = nil) {
            self.name = name.lowercasedASCII
            self.argument = argument
        }

        /// The argument as a duration, or `nil` if it isn't a number of seconds.
        ///
        /// A number that is too large to be meant is read as 2,147,483,648 seconds (RFC 9111, 1.2.2).
        public var duration: Duration? {
            guard let argument, argument.isNumber else { return nil }
            return .seconds(min(Int64(argument) ?? .max, Self.longest))
        }

        /// The directive as it stands in the field.
        public var description: String {
            argument.map { "\(name)=\($0.asParameterValue)" } ?? name
        }

        private init(_ name: String, _ duration: Duration) {
            self.init(name, String(min(max(.zero, duration), .seconds(Self.longest)).components.seconds))
        }

        private static let longest: Int64 = 2_147_483_648

        /// A response at most this old, or one that is fresh for this long.
        public static func maxAge(_ duration: Duration) -> Directive { Directive("max-age", duration) }
        /// A response stale for at most this long; with `nil`, stale for any time.
        public static func maxStale(_ duration: Duration? = nil) -> Directive {
            duration.map { Directive("max-stale", $0) } ?? Directive("max-stale")
        }
        /// A response that stays fresh for at least this long.
        public static func minFresh(_ duration: Duration) -> Directive { Directive("min-fresh", duration) }
        /// Usable for this long if no new response can be received (RFC 5861).
        public static func staleIfError(_ duration: Duration) -> Directive { Directive("stale-if-error", duration) }

        /// Used only after asking the server.
        public static let noCache = Directive("no-cache")
        /// Never stored.
        public static let noStore = Directive("no-store")
        /// Not to be transformed.
        public static let noTransform = Directive("no-transform")
        /// Only from a cache.
        public static let onlyIfCached = Directive("only-if-cached")
        /// Once stale, used only after asking the server.
        public static let mustRevalidate = Directive("must-revalidate")
    }
}

extension ASCIISet {
    /// The characters of the names of the registered directives.
    fileprivate static let directiveName = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-")
}
