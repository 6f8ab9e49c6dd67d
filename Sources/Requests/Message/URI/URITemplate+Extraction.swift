// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URITemplate {
    /// The values with which the template expands to the address, or `nil` if the address doesn't match.
    ///
    /// The whole address has to match. A variable that the address leaves out is missing in the result; so is one whose
    /// value would be empty in a plain `{x}` or `{+x}`, which look the same (RFC 6570, 3.2.2). If several values match,
    /// a variable takes as much as it can, but in `{+x}` and in front of `{.y}` as little as it can:
    /// `{name}{.extension}` splits `a.tar.gz` into `a` and `tar.gz`, and `{+path}{?page}` finds its page. `%XX` is
    /// decoded, except in `{+x}` and `{#x}`, where an escaped reserved character stays escaped, because it isn't the
    /// same as that character. A repeated variable must have the same value in all places.
    ///
    /// ```swift
    /// let template: URITemplate = "/users/{id}{?page}"
    /// template.extract(from: "/users/7?page=2")  // ["id": "7", "page": "2"]
    /// template.extract(from: "/teams/7")         // nil
    /// ```
    ///
    /// Every value is a text. A template of level 4, with `{x*}` or `{x:3}`, matches nothing: read lists and pairs from
    /// the ``Query`` of the address.
    ///
    /// - Returns: The values by name. `nil` also for a malformed template, and for an address whose `%XX` aren't UTF-8.
    /// - Complexity: O(n · m) in the lengths of the address and the template, unless many values match. The search is
    ///   bounded: of an address with more possibilities than that, the result may be `nil`.
    public func extract(from address: String) -> [String: Value]? {
        guard case .success(let parts) = parts, parts.allSatisfy(\.isOfLevel3) else { return nil }
        // "%2f" and "%2F" mean the same address, and so do "é" and "%C3%A9".
        var matcher = Matcher(parts: parts, input: ASCIISet.address.encode(address, keepsTriplets: true).normalized)
        return matcher.match(part: 0, at: 0)
    }

    /// The values with which the template expands to the address, or to the part behind its origin; `nil` if neither
    /// matches.
    ///
    /// So a template of a path, such as `/users/{id}`, also matches an absolute address. See
    /// ``extract(from:)-swift.method`` for the rules.
    ///
    /// - Complexity: As ``extract(from:)-swift.method``.
    public func extract(from url: URL) -> [String: Value]? {
        let address = url.absoluteString
        return extract(from: address) ?? AddressParts(address).flatMap { extract(from: $0.reference) }
    }
}

/// A search for the values that a template has in an address, from left to right.
///
/// Several ways may match, and are tried in the order of preference.
private struct Matcher {
    /// The place of a variable in the template, and of its value in the address.
    struct Capture {
        let part: Int
        let variable: Int
        let value: Range<Int>
    }

    let parts: [URITemplate.Part]
    let input: [UInt8]
    var captures: [Capture] = []
    /// The number of values that may still be tried: with many adjacent variables, there are too many ways.
    var steps = 100_000

    /// The values of all variables, if the parts from an index on match the address from a position on.
    mutating func match(part: Int, at position: Int) -> [String: URITemplate.Value]? {
        guard part < parts.count else { return position == input.count ? values : nil }
        switch parts[part] {
        case .literal(let text):
            let literal = text.normalized
            guard input[position...].starts(with: literal) else { return nil }
            return match(part: part + 1, at: position + literal.count)
        case .expression(let expression):
            return match(expression, part, variable: 0, at: position, isFirst: true)
        }
    }

    /// The values of all variables, if the expression from a variable on, and the parts behind it, match.
    ///
    /// It is the first as long as no variable of the expression has a value.
    private mutating func match(
        _ expression: URITemplate.Expression,
        _ part: Int,
        variable: Int,
        at position: Int,
        isFirst: Bool
    ) -> [String: URITemplate.Value]? {
        guard variable < expression.variables.count else { return match(part: part + 1, at: position) }
        let kind = expression.kind
        let name = kind.isNamed ? expression.variables[variable].name : ""
        let prefix = ((isFirst ? kind.first : kind.separator) + name).normalized
        if input[position...].starts(with: prefix) {
            for value in candidates(expression, part, variable, from: position + prefix.count) where steps > 0 {
                steps -= 1
                captures.append(Capture(part: part, variable: variable, value: value))
                let next = variable + 1
                if let values = match(expression, part, variable: next, at: value.upperBound, isFirst: false) {
                    return values
                }
                captures.removeLast()
            }
        }
        if kind.isNamed { return match(expression, part, variable: variable + 1, at: position, isFirst: isFirst) }
        // A first variable without a text before it has been tried with an empty value.
        return variable == 0 && kind.first.isEmpty ? nil : match(part: part + 1, at: position)
    }

    /// The values that a variable may have at a position, the preferred ones first.
    private func candidates(
        _ expression: URITemplate.Expression,
        _ part: Int,
        _ variable: Int,
        from position: Int
    ) -> [Range<Int>] {
        let kind = expression.kind
        var start = position
        var bare: [Range<Int>] = []
        if kind.isNamed {
            // "{;x}" is written without "=" if x is empty.
            if kind == .parameters { bare = [start..<start] }
            guard input[start...].first == UInt8(ascii: "=") else { return bare }
            start += 1
        }
        var ends = [start]
        var end = start
        while end < input.count, input.isTriplet(at: end) || kind.encoding.contains(input[end]) {
            end += input.isTriplet(at: end) ? 3 : 1
            ends.append(end)
        }
        let isLast = variable + 1 == expression.variables.count
        let isBeforeLabel = isLast ? part + 1 < parts.count && parts[part + 1].isLabel : kind == .label
        let isShort = kind.keepsReserved || !kind.isNamed && isBeforeLabel
        return (isShort ? ends : ends.reversed()).map { start..<$0 } + bare
    }

    /// The decoded values; `nil` if one isn't UTF-8, or a repeated variable has two.
    private var values: [String: URITemplate.Value]? {
        var values: [String: URITemplate.Value] = [:]
        for (number, capture) in captures.enumerated() {
            guard case .expression(let expression) = parts[capture.part] else { continue }
            let kind = expression.kind
            // An empty value looks like none, unless another one of its expression is behind it.
            let mayBeNone = capture.value.isEmpty && capture.variable == 0 && kind.first.isEmpty
            if mayBeNone, captures.dropFirst(number + 1).first?.part != capture.part { continue }
            // An escaped character that the expansion wouldn't escape has to stay escaped.
            let kept = kind.keepsReserved ? kind.encoding + "%" : nil
            guard let text = String(utf8: input[capture.value].percentDecoded(keeping: kept)) else { return nil }
            let former = values.updateValue(.string(text), forKey: expression.variables[capture.variable].name)
            guard former == nil || former == .string(text) else { return nil }
        }
        return values
    }
}

extension URITemplate.Part {
    /// Whether the part has neither a prefix nor an explode modifier.
    fileprivate var isOfLevel3: Bool {
        guard case .expression(let expression) = self else { return true }
        return expression.variables.allSatisfy { $0.modifier == .none }
    }

    /// Whether it begins with a dot that may also belong to the value before.
    fileprivate var isLabel: Bool {
        if case .expression(let expression) = self { expression.kind == .label } else { false }
    }
}

extension String {
    /// The bytes, with the digits of each `%XX` in upper case (RFC 3986, 6.2.2.1).
    fileprivate var normalized: [UInt8] {
        var bytes = Array(utf8)
        for index in bytes.indices where bytes.isTriplet(at: index) {
            for digit in [index + 1, index + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] &= 0xDF }
        }
        return bytes
    }
}
