// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How a message may be cached: directives, in their order (RFC 9111, 5.2).
///
/// ```swift
/// let fresh: HTTPField = .cacheControl([.maxAge(.seconds(60)), .noTransform])       // max-age=60, no-transform
/// let control = CacheControl(parsing: response.headers[.cacheControl] ?? "")
/// if control.contains("no-store") || control.maxAge == .zero { … }
/// ```
///
/// Directives that nobody registered are kept as they are.
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

    /// The first directive of the name, or nil where there is none.
    public subscript(name: String) -> Directive? {
        directives.first { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// How long the response is fresh, or how old one may be; nil where it isn't said, or isn't a number.
    public var maxAge: Duration? { self["max-age"]?.duration }
    /// How long the response is fresh in shared caches.
    public var sharedMaxAge: Duration? { self["s-maxage"]?.duration }
    /// For how long the response may be used while a new one is asked for (RFC 5861).
    public var staleWhileRevalidate: Duration? { self["stale-while-revalidate"]?.duration }
    /// For how long the response may be used where no new one is to be had (RFC 5861).
    public var staleIfError: Duration? { self["stale-if-error"]?.duration }

    /// The directives as they stand in the field.
    public var rawValue: String {
        directives.map(\.description).joined(separator: ", ")
    }

    /// The directives as they stand in the field.
    public var description: String { rawValue }
}

extension CacheControl: HTTPFieldValue {
    /// Reads the value of a field; what isn't a directive is passed over, so that anything can be read.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init(parsing text: String) {
        self.init(
            FieldScanner.elements(of: text).compactMap { element in
                var scanner = FieldScanner(element)
                let name = scanner.token()
                guard !name.isEmpty else { return nil }
                scanner.skipBlanks()
                guard scanner.skip("=") else { return scanner.isAtEnd ? Directive(name) : nil }
                scanner.skipBlanks()
                let argument = scanner.parameterValue(upTo: ",")
                return argument.isFieldValue ? Directive(name, argument) : nil
            }
        )
    }

    /// The value itself, where names are tokens and arguments have no control character.
    ///
    /// - Throws: ``InvalidRequest`` that names the directive at fault.
    public func validated() throws(InvalidRequest) -> CacheControl {
        for directive in directives where !directive.name.isToken || directive.argument?.isFieldValue == false {
            throw InvalidRequest(.headerValue, "of Cache-Control isn't a directive", excerpt: directive.description)
        }
        return self
    }
}
