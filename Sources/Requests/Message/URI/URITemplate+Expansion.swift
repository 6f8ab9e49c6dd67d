// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// Replaces the expressions of the template with the values of their variables.
    ///
    /// A variable without a value, or with an empty list, is omitted together with its separator, but an empty string
    /// isn't (RFC 6570, 2.3 and 3.2). The output has no control characters, whatever the values contain. Only in `{+x}`
    /// and `{#x}` can a value change the structure of the URL, so don't use them for untrusted values.
    ///
    /// - Throws: ``InvalidValue`` for a malformed template from a literal, and for a prefix (`{x:3}`) of a list or of
    ///   pairs. Neither a variable without a value nor a value that the template doesn't use is an error.
    /// - Complexity: O(n) in the length of the expansion.
    public func expand(_ variables: Variables = [:]) throws(InvalidValue) -> String {
        var output: [UInt8] = []
        for part in try parts.get() {
            switch part {
            case .literal(let literal): output += literal.utf8
            case .expression(let expression): try expression.expand(variables, into: &output)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension URITemplate.Expression {
    fileprivate func expand(
        _ values: URITemplate.Variables,
        into output: inout [UInt8]
    ) throws(InvalidValue) {
        var writer = Writer(kind: kind)
        for variable in variables {
            let value = values[variable.name]
            guard value.isDefined else { continue }
            switch (value, variable.modifier) {
            case (.undefined, _): continue
            case (.string(let text), .prefix(let length)):
                writer.write(kind.prefix(length, of: text), as: variable.name, to: &output)
            case (.string(let text), _): writer.write(text, as: variable.name, to: &output)
            case (.list(let members), .none): writer.write(joining: members, as: variable.name, to: &output)
            case (.list(let members), .explode):
                for member in members { writer.write(member, as: variable.name, to: &output) }
            case (.pairs(let pairs), .none):
                let members = pairs.flatMap { pair in pair.value.map { [pair.name, $0] } ?? [] }
                writer.write(joining: members, as: variable.name, to: &output)
            case (.pairs(let pairs), .explode): for pair in pairs { writer.write(pair, to: &output) }
            case (.list, .prefix), (.pairs, .prefix):
                let reason = "applies a prefix modifier to a list or to key–value pairs"
                throw InvalidValue(.template, reason, excerpt: variable.name)
            }
        }
    }

    /// Writes the values of one expression, with its prefix and separators.
    private struct Writer {
        let kind: URITemplate.Operator
        var isFirst = true

        mutating func write(_ value: String, as name: String, to output: inout [UInt8]) {
            begin(&output)
            if kind.isNamed {
                output += name.utf8
                output += (value.isEmpty ? kind.emptySuffix : "=").utf8
            }
            encode(value, to: &output)
        }

        mutating func write(joining members: [String], as name: String, to output: inout [UInt8]) {
            begin(&output)
            if kind.isNamed { output += "\(name)=".utf8 }
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                encode(member, to: &output)
            }
        }

        mutating func write(_ pair: Query.Item, to output: inout [UInt8]) {
            guard let value = pair.value else { return }
            begin(&output)
            encode(pair.name, to: &output)
            output += (kind.isNamed && value.isEmpty ? kind.emptySuffix : "=").utf8
            encode(value, to: &output)
        }

        private mutating func begin(_ output: inout [UInt8]) {
            output += (isFirst ? kind.first : kind.separator).utf8
            isFirst = false
        }

        private func encode(_ value: String, to output: inout [UInt8]) {
            kind.allowedCharacters.append(value, to: &output, keepsTriplets: kind.keepsReserved)
        }
    }
}

extension URITemplate.Operator {
    /// Returns the first characters of a value, counted in Unicode scalars (RFC 6570, 2.4.1).
    ///
    /// If the operator keeps `%XX`, each one counts as a single character, because it must not be split.
    fileprivate func prefix(_ length: Int, of value: String) -> String {
        guard keepsReserved else { return String(value.unicodeScalars.prefix(length)) }
        let bytes = Array(value.utf8)
        var end = 0
        for _ in 0..<length where end < bytes.count {
            end += bytes.isTriplet(at: end) ? 3 : 1
            while end < bytes.count, UTF8.isContinuation(bytes[end]) { end += 1 }
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

// MARK: - Authority

extension URITemplate {
    /// Whether no value of a variable can change the host that the template specifies.
    ///
    /// A variable may be the entire authority, may precede the literal end of the host, as in `{tenant}.example.com`,
    /// or may be a part of the credentials before a literal `@`. Values of `{x}` are safe there, because delimiters in
    /// them are escaped. Anywhere else in the authority, a value could extend a literal host or add an `@`.
    var hasSafeAuthority: Bool {
        func authority(_ variables: Variables) -> Substring {
            (try? AddressParts(expand(variables)))?.authority ?? ""
        }
        let literal = authority([:])
        let isLiteral = !literal.isEmpty && literal.first != ":" || literal.contains("@")
        // The test value is a delimiter. An expression such as `{x}` expands it to `%40`, whereas `{+x}` keeps it.
        let expanded = variables.map { String(authority([$0: "@"])) }.filter { $0 != literal }
        guard isLiteral || expanded.count <= 1 else { return false }
        return expanded.allSatisfy { authority in
            let literals = authority.components(separatedBy: "%40")
            guard literals.joined() == literal, let end = literals.last else { return false }
            // After a literal host, even before a port, the value would extend the host.
            return !isLiteral || end.contains("@") || !end.isEmpty && !end.hasPrefix(":")
        }
    }
}
