// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One header line: a name and a value (RFC 9110, 5).
///
/// The fields in everyday use are made of typed values, and your own are one line each:
///
/// ```swift
/// let headers: HTTPHeaders = [.accept(.json), .bearerToken("abc"), HTTPField("X-Attempt", 2)]
///
/// extension HTTPField {
///     static func requestID(_ id: UUID) -> HTTPField { HTTPField("X-Request-ID", id.uuidString) }
/// }
/// ```
///
/// A field isn't checked when it is made, since a subscript or a literal can't throw; it is checked when its request is
/// built, where a bad name or value is an error that names the piece. Nothing is dropped, and nothing bad is sent.
public struct HTTPField: Sendable, CustomStringConvertible {
    /// The name, compared without regard to case.
    public var name: Name
    /// The value, as it stands on the line.
    public var value: String { didSet { flawBox = nil } }
    // Boxed, since every field of every message would be larger for what next to none of them has.
    private var flawBox: FlawBox?

    /// Makes a field.
    public init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Makes a field of a typed value.
    ///
    /// A value that can't be sent leaves ``value`` empty, and its error is thrown when the request is built.
    public init(_ name: Name, _ value: some HTTPFieldValue) {
        self.init(name, checked: { () throws(InvalidRequest) in try value.validated().rawValue })
    }

    /// Makes a field of a number.
    public init(_ name: Name, _ value: some BinaryInteger) {
        self.init(name, value.description)
    }

    /// Makes a field of a time, such as `Sun, 06 Nov 1994 08:49:37 GMT`; it has no fractions of a second.
    public init(_ name: Name, _ date: Date) {
        self.init(name, HTTPDate(date).rawValue)
    }

    /// Makes a field of a locale: its language tag, such as `en-US` (BCP 47).
    public init(_ name: Name, _ locale: Locale) {
        self.init(name, locale.identifier(.bcp47))
    }

    /// Makes a field of a value that may turn out not to be one.
    init(_ name: Name, checked makeValue: () throws(InvalidRequest) -> String) {
        do throws(InvalidRequest) {
            self.init(name, try makeValue())
        } catch {
            self.init(name, "")
            flawBox = FlawBox(error)
        }
    }

    /// What is wrong with the typed value that the field was made of.
    var flaw: InvalidRequest? { flawBox?.error }

    /// The name and the value; a secret value is left out.
    public var description: String {
        "\(name): \(name.isSecret ? "<redacted>" : value)"
    }

    /// Whether the value may stand on a header line (RFC 9110, 5.5): no CR, LF, NUL or other control character.
    package var hasValidValue: Bool { value.isFieldValue }

    private final class FlawBox: Sendable {
        let error: InvalidRequest

        init(_ error: InvalidRequest) {
            self.error = error
        }
    }
}

extension HTTPField: CustomReflectable {
    /// A mirror of what the description says, so that `dump` and a debugger's console show no secret either.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension HTTPField: Hashable {
    /// Compares names without regard to case, and values.
    public static func == (lhs: HTTPField, rhs: HTTPField) -> Bool {
        lhs.name == rhs.name && lhs.value == rhs.value && lhs.flaw == rhs.flaw
    }

    /// Hashes name and value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}
