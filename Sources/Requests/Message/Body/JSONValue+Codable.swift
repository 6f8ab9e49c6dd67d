// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension JSONValue: Codable {
    /// Decodes any value.
    ///
    /// - Throws: `DecodingError` where the input isn't JSON, or is nested deeper than 64 levels: a stack has an end,
    ///   and whoever sent the input would otherwise choose it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // What there is most of first: a try that fails costs far more than one that doesn't.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Double.self) {
            // The double is only asked whether it may be an integer; beyond 2⁵³ it isn't the same one.
            let integer = value.rounded() == value ? try? container.decode(Int64.self) : nil
            self = integer.map(JSONValue.integer) ?? .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else {
            try Self.checkDepth(of: decoder)
            self = try Self.decodeContainer(from: decoder)
        }
    }

    private static func decodeContainer(from decoder: any Decoder) throws -> JSONValue {
        if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            return .array(values)
        }
        // A dictionary rather than a keyed container: strategies that rename keys leave its keys alone.
        return .object(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` where a number isn't finite, or the value is nested deeper than 64 levels.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements):
            try checkDepth(of: encoder)
            try container.encode(elements)
        case .object(let members):
            try checkDepth(of: encoder)
            try container.encode(members)
        }
    }

    private static func checkDepth(of decoder: any Decoder) throws {
        guard decoder.codingPath.count >= maximumDepth else { return }
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "nested too deeply"))
    }

    private func checkDepth(of encoder: any Encoder) throws {
        guard encoder.codingPath.count >= Self.maximumDepth else { return }
        throw EncodingError.invalidValue(JSONValue.null, .init(codingPath: [], debugDescription: "nested too deeply"))
    }
}
