// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The name of a header field, compared without regard to case.
    ///
    /// An open set, extended in one line:
    ///
    /// ```swift
    /// extension HTTPField.Name { static let requestID: Self = "X-Request-ID" }
    /// ```
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name in the spelling that it was given, which is the one that is sent.
        public let rawValue: String
        /// Whether it was said that the values are secrets.
        let isMarkedSecret: Bool

        /// Makes a name of any spelling.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - isSecret: Whether values of the field are secrets, where the name itself doesn't say so: ``isSecret``. The
        ///     mark is no part of equality.
        public init(_ rawValue: String, isSecret: Bool = false) {
            self.rawValue = rawValue
            isMarkedSecret = isSecret
        }

        /// Makes a name from a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name as it was given.
        public var description: String { rawValue }

        /// Compares names without regard to case.
        public static func == (lhs: Name, rhs: Name) -> Bool {
            lhs.rawValue.equalsIgnoringASCIICase(rhs.rawValue)
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
            hasher.combine(rawValue.utf8.count)
        }
    }
}

extension HTTPField.Name: Comparable {
    /// Orders names alphabetically, without regard to case.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.rawValue.utf8.lazy.map(ASCII.lowercased).lexicographicallyPrecedes(
            rhs.rawValue.utf8.lazy.map(ASCII.lowercased)
        )
    }
}

extension HTTPField.Name {
    /// Whether the value of the field is a secret, which no description shows and no other origin receives.
    ///
    /// It is where that was said when the name was made, and where the name itself says so: that of a field that
    /// everybody knows for one, as `Cookie`, or one that sounds like it, as `X-Vault-Token`. What was shown or sent
    /// can't be taken back, so a name that only sounds like a secret is taken for one.
    public var isSecret: Bool { isKnownSecret || (!Self.harmless.contains(self) && SecretName.matches(rawValue)) }

    /// Whether the value is a secret for certain, and doesn't only sound like one.
    var isKnownSecret: Bool { isMarkedSecret || Self.secrets.contains(self) }

    /// The same name, with the mark of a secret.
    var markedSecret: Self { Self(rawValue, isSecret: true) }

    private static let secrets: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, .apiKey, .csrfToken,
        "Cookie2", "API-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
    ]

    /// Fields that sound like secrets, and are none.
    private static let harmless: Set<Self> = [
        "Access-Control-Allow-Credentials", "Idempotency-Key", "Sec-WebSocket-Key", "Surrogate-Key", "X-Cache-Key",
    ]

    /// Whether the field has one value, so that several are a mistake, and joining them would make a third of two.
    ///
    /// `Content-Length` and `Host` aren't here: two of them are how requests are smuggled, and must be noticed.
    var isSingleton: Bool { Self.singletons.contains(self) }

    private static let singletons: Set<Self> = [
        .age, .authorization, .contentDisposition, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires,
        .from, .ifModifiedSince, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .origin, .proxyAuthorization,
        .range, .referer, .retryAfter, .server, .setCookie, .userAgent,
    ]
}
