// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// One header line: a name and a value (RFC 9110, 5).
///
/// A field isn't checked when it is made, since a subscript or a literal can't throw; it is checked when its request is
/// built, where a bad name or value is an error that names the piece. Nothing is dropped, and nothing bad is sent.
public struct HTTPField: Sendable, Hashable, CustomStringConvertible {
    /// The name, compared without regard to case.
    public var name: Name
    /// The value, as it stands on the line.
    public var value: String

    /// Makes a field.
    public init(_ name: Name, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The name and the value; a secret value is left out.
    public var description: String {
        "\(name): \(name.isSecret ? "<redacted>" : value)"
    }

    /// Whether the value may stand on a header line (RFC 9110, 5.5): no CR, LF, NUL or other control character.
    package var hasValidValue: Bool {
        value.utf8.allSatisfy(ASCII.isFieldValue)
    }
}
