// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Reading lists, pairs and prefixes back. Each expression takes a piece of the address as a whole, which is then taken
// apart by the expression alone; the result counts only if it expands to the address again.

extension URITemplate {
    /// The values with which the template expands to an address, lists, pairs and prefixes among them.
    func extractComposites(from address: String, _ parts: [Part]) -> [String: Value]? {
        guard let pieces = Matcher(compositesOf: parts).pieces(of: address) else { return nil }
        var values: [String: Value] = [:]
        for (owner, piece) in pieces {
            guard let found = owner.values(in: piece) else { return nil }
            for (name, value) in found {
                guard let merged = values[name].map({ $0.merged(with: value) }) ?? value else { return nil }
                values[name] = merged
            }
        }
        let expansion = try? expand(Variables(values))
        return expansion?.normalizedAddress == address.normalizedAddress ? values : nil
    }

    /// The source of a piece of an address: all variables of an expression without names, or one variable with its name.
    enum PieceOwner {
        case expression(Expression)
        case variable(Specifier, Expression)

        fileprivate func values(in piece: ArraySlice<UInt8>) -> [(String, Value)]? {
            switch self {
            case .expression(let expression): expression.values(in: piece)
            case .variable(let variable, let expression):
                expression.value(of: variable, in: piece).map { [(variable.name, $0)] }
            }
        }
    }
}

extension URITemplate.Value {
    /// The value of a variable that stands in two places: the same, or in one of them its beginning.
    fileprivate func merged(with other: URITemplate.Value) -> URITemplate.Value? {
        guard case .string(let one) = self, case .string(let another) = other else { return self == other ? self : nil }
        if one.hasPrefix(another) { return self }
        return another.hasPrefix(one) ? other : nil
    }
}

extension URITemplate.Expression {
    /// The bytes that may stand in an expansion of the expression.
    var alphabet: PercentEncoding {
        guard !kind.keepsReserved else { return .address }
        let isExploded = variables.contains { $0.modifier == .explode }
        let hasSeparators = isExploded || variables.count > 1
        return PercentEncoding(keeping: "-._~," + (hasSeparators ? kind.separator : "") + (isExploded ? "=" : ""))
    }

    /// The value of a variable in its items, which bear names.
    fileprivate func value(of variable: URITemplate.Specifier, in piece: ArraySlice<UInt8>) -> URITemplate.Value? {
        let items = items(in: piece)
        let isOwn = items.allSatisfy { item in
            item.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(variable.name.utf8)
        }
        guard isOwn else { return pairs(items) }
        return value(of: items.map { $0.dropFirst(variable.name.utf8.count + 1) }, for: variable)
    }

    private func items(in piece: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        piece.split(separator: Array(kind.separator.utf8)[0], omittingEmptySubsequences: false)
    }

    /// The values of the variables in what stands behind the beginning of the expression; `nil` if it can't be theirs.
    ///
    /// Items are in the order of the variables, of which the last may be missing; what there is too much is an exploded
    /// one's, or else the members of a list at the end.
    fileprivate func values(in piece: ArraySlice<UInt8>) -> [(String, URITemplate.Value)]? {
        let items = items(in: piece)
        var values: [(String, URITemplate.Value)] = []
        var surplus = max(items.count - variables.count, 0)
        let taker = variables.lastIndex { $0.modifier == .explode } ?? variables.count - 1
        var rest = items[...]
        for (index, variable) in variables.enumerated() where !rest.isEmpty {
            let count = index == taker ? 1 + surplus : 1
            if index == taker { surplus = 0 }
            guard let value = value(of: Array(rest.prefix(count)), for: variable) else { return nil }
            rest = rest.dropFirst(count)
            values.append((variable.name, value))
        }
        return rest.isEmpty ? values : nil
    }

    /// The value of a variable that is written like this: a text, a list, or pairs.
    private func value(of members: [ArraySlice<UInt8>], for variable: URITemplate.Specifier) -> URITemplate.Value? {
        if variable.modifier == .explode {
            if !kind.isNamed, members.allSatisfy({ $0.contains(UInt8(ascii: "=")) }) { return pairs(members) }
            return list(members)
        }
        if members.count > 1 { return list(members) }
        // A comma that a text holds is escaped, but where reserved characters stay.
        let pieces = members[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        if pieces.count > 1, !kind.keepsReserved { return list(pieces) }
        return kind.decode(members[0]).map(URITemplate.Value.string)
    }

    private func list(_ members: [ArraySlice<UInt8>]) -> URITemplate.Value? {
        let texts = members.compactMap(kind.decode)
        return texts.count == members.count ? .list(texts) : nil
    }

    private func pairs(_ members: [ArraySlice<UInt8>]) -> URITemplate.Value? {
        var pairs: [(String, (any Query.ValueConvertible)?)] = []
        for member in members {
            let name = member.prefix { $0 != UInt8(ascii: "=") }
            guard let key = kind.decode(name), let value = kind.decode(member.dropFirst(name.count + 1)) else {
                return nil
            }
            pairs.append((key, value))
        }
        return .pairs(URITemplate.Pairs(pairs))
    }
}

extension String {
    /// The address, in which two that mean the same are written alike (RFC 3986, 6.2.2).
    fileprivate var normalizedAddress: [UInt8] {
        let bytes = PercentEncoding.address.encode(self, keepsTriplets: true).utf8.withUppercaseTriplets
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes.isTriplet(at: index), let byte = bytes[index..<(index + 3)].percentDecoded().first,
                PercentEncoding.unreserved.keeps(byte)
            {
                output.append(byte)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return output
    }
}
