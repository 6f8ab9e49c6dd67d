// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URITemplate {
    /// Returns the values with which the template expands to the URL, or `nil` if the URL doesn't match.
    ///
    /// ```swift
    /// let template: URITemplate = "/users/{id}{?page}"
    /// template.extract(from: "/users/7?page=2")  // ["id": "7", "page": "2"]
    /// template.extract(from: "/teams/7")         // nil
    /// ```
    ///
    /// The template must match the entire URL, and a repeated variable must have the same value everywhere. All values
    /// are strings. These rules apply:
    ///
    /// - A variable that the URL omits is missing from the result. The same applies to an empty value of a plain `{x}`
    ///   or `{+x}`, because it can't be distinguished from an omitted variable (RFC 6570, 3.2.2).
    /// - A variable matches as many characters as possible. In `{+x}` and before `{.y}`, it matches as few as possible:
    ///   `{name}{.extension}` splits `a.tar.gz` into `a` and `tar.gz`, and `{+path}{?page}` finds the page.
    /// - `%XX` is decoded. Only in `{+x}` and `{#x}` does an escaped reserved character stay escaped, because
    ///   unescaped, it would have another meaning.
    /// - A level 4 template, such as one with `{x*}` or `{x:3}`, never matches. Use the ``Query`` of the URL to extract
    ///   lists and pairs.
    ///
    /// - Returns: The values by name; `nil` if the URL doesn't match, if the template is malformed, or if the `%XX` of
    ///   the URL aren't valid UTF-8.
    /// - Complexity: O(n · m) in the lengths of the URL and the template, unless many values match. The number of steps
    ///   is limited, so the result may be `nil` for a URL with too many possible matches.
    public func extract(from address: String) -> [String: Value]? {
        guard case .success(let parts) = parts, parts.allSatisfy(\.isLevel3) else { return nil }
        // Normalize the URL first, because "%2f" and "%2F" are equivalent, and so are "é" and "%C3%A9".
        var matcher = Matcher(parts: parts, input: ASCIISet.address.encode(address, keepsTriplets: true).normalized)
        return matcher.match(part: 0, at: 0)
    }

    /// Returns the values with which the template expands to the URL, or to the part of the URL after its authority.
    ///
    /// A template for a path, such as `/users/{id}`, therefore also matches an absolute URL. For the rules, see
    /// ``extract(from:)-swift.method``.
    ///
    /// - Returns: The values by name, or `nil` if neither the entire URL nor the part after its authority matches.
    /// - Complexity: The same as for ``extract(from:)-swift.method``.
    public func extract(from url: URL) -> [String: Value]? {
        let address = url.absoluteString
        return extract(from: address) ?? AddressParts(address).flatMap { extract(from: $0.reference) }
    }
}

/// Matches a template against a URL from left to right, with backtracking.
///
/// If several values are possible for a variable, the preferred value is tried first.
private struct Matcher {
    /// A matched variable, that is, its position in the template and the range of its value in the URL.
    struct Capture {
        let part: Int
        let variable: Int
        let value: Range<Int>
    }

    let parts: [URITemplate.Part]
    let input: [UInt8]
    var captures: [Capture] = []
    /// The number of values that may still be tried, because adjacent variables may have too many possible matches.
    var stepsLeft = 100_000

    /// Matches the template's parts from index `part` on against the rest of the URL from `position` on.
    ///
    /// - Returns: The values of all variables, or `nil` if the parts don't match.
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

    /// Matches the rest of an expression, starting at a variable, and all parts after the expression.
    ///
    /// `isFirst` is true as long as no variable of the expression has a value.
    ///
    /// - Returns: The values of all variables, or `nil` if the parts don't match.
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
            for value in candidates(expression, part, variable, from: position + prefix.count) where stepsLeft > 0 {
                stepsLeft -= 1
                captures.append(Capture(part: part, variable: variable, value: value))
                let next = variable + 1
                if let values = match(expression, part, variable: next, at: value.upperBound, isFirst: false) {
                    return values
                }
                captures.removeLast()
            }
        }
        if kind.isNamed { return match(expression, part, variable: variable + 1, at: position, isFirst: isFirst) }
        // If the operator has no prefix, the first variable was already tried with an empty value.
        return variable == 0 && kind.first.isEmpty ? nil : match(part: part + 1, at: position)
    }

    /// Returns the values that a variable may have at a position, the preferred values first.
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
            // "{;x}" expands to ";x", without "=", if `x` is empty.
            if kind == .parameters { bare = [start..<start] }
            guard input[start...].first == UInt8(ascii: "=") else { return bare }
            start += 1
        }
        var ends = [start]
        var end = start
        while end < input.count, input.isTriplet(at: end) || kind.allowedCharacters.contains(input[end]) {
            end += input.isTriplet(at: end) ? 3 : 1
            ends.append(end)
        }
        let isLast = variable + 1 == expression.variables.count
        let isBeforeLabel = isLast ? part + 1 < parts.count && parts[part + 1].isLabel : kind == .label
        let isShort = kind.keepsReserved || !kind.isNamed && isBeforeLabel
        return (isShort ? ends : ends.reversed()).map { start..<$0 } + bare
    }

    /// The decoded values; `nil` if one of them isn't valid UTF-8, or if a repeated variable has different values.
    private var values: [String: URITemplate.Value]? {
        var values: [String: URITemplate.Value] = [:]
        for (number, capture) in captures.enumerated() {
            guard case .expression(let expression) = parts[capture.part] else { continue }
            let kind = expression.kind
            // An empty value can't be distinguished from an undefined value, unless a later variable of its expression
            // has a value.
            let mayBeUndefined = capture.value.isEmpty && capture.variable == 0 && kind.first.isEmpty
            if mayBeUndefined, captures.dropFirst(number + 1).first?.part != capture.part { continue }
            // Characters that the expansion doesn't escape must stay escaped, so that the values expand to the same
            // URL.
            let kept = kind.keepsReserved ? kind.allowedCharacters + "%" : nil
            guard let text = String(utf8: input[capture.value].percentDecoded(keeping: kept)) else { return nil }
            let previous = values.updateValue(.string(text), forKey: expression.variables[capture.variable].name)
            guard previous == nil || previous == .string(text) else { return nil }
        }
        return values
    }
}

extension URITemplate.Part {
    /// Whether the part has neither a prefix nor an explode modifier, which only level 4 templates have (RFC 6570,
    /// 1.2).
    fileprivate var isLevel3: Bool {
        guard case .expression(let expression) = self else { return true }
        return expression.variables.allSatisfy { $0.modifier == .none }
    }

    /// Whether the part begins with a dot that may also belong to the value before it.
    fileprivate var isLabel: Bool {
        if case .expression(let expression) = self { expression.kind == .label } else { false }
    }
}

extension String {
    /// The UTF-8 bytes, with the hexadecimal digits of each `%XX` in uppercase (RFC 3986, 6.2.2.1).
    fileprivate var normalized: [UInt8] {
        var bytes = Array(utf8)
        for index in bytes.indices where bytes.isTriplet(at: index) {
            for digit in [index + 1, index + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] &= 0xDF }
        }
        return bytes
    }
}
