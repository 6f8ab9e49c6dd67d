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
    /// - Complexity: O(n · m) in the lengths of the address and the template, whatever they are.
    public func extract(from address: String) -> [String: Value]? {
        guard case .success(let parts) = parts else { return nil }
        return Matcher(parts)?.match(address)
    }

    /// The values with which the template expands to the address, or to the part behind its origin; `nil` if neither
    /// matches.
    ///
    /// So a template of a path, such as `/users/{id}`, also matches an absolute address. See
    /// ``extract(from:)-swift.method`` for the rules.
    ///
    /// - Complexity: O(n · m) in the lengths of the address and the template, whatever they are.
    public func extract(from url: URL) -> [String: Value]? {
        let address = url.absoluteString
        return extract(from: address) ?? AddressParts(address).flatMap { extract(from: $0.reference) }
    }
}

/// A template as a list of pieces that read an address from left to right.
///
/// Several ways may match. They are tried in the order of preference, and a state that has failed isn't tried again:
/// this keeps the time linear, while a backtracking expression would need exponential time.
private struct Matcher {
    /// A literal, or a variable of an expression.
    private enum Piece {
        case literal([UInt8])
        case variable(Variable)
    }

    private struct Variable {
        let name: String
        let kind: URITemplate.Operator
        let alphabet: ASCIISet
        /// The text before the value if it is the first of its expression, and if it is another one.
        let first, separator: [UInt8]
        /// Whether it is the first of its expression, and has no text before it: an empty value may mean none.
        let isOptional: Bool
        /// Whether the value is as short as possible.
        let isShort: Bool
        /// The piece behind the expression.
        let end: Int
    }

    /// A point of the search: the next piece, the position in the address, and the values before it.
    private struct State {
        enum Mode: Int {
            /// Before a piece; no variable of its expression has a value yet.
            case fresh
            /// Before a variable, behind another one of its expression.
            case begun
            /// In a value.
            case inside
            /// Behind a value.
            case behind
        }

        var piece = 0
        var position = 0
        var mode = Mode.fresh
        /// The beginning of the present value.
        var start = 0
        /// The number of the last value before the piece.
        var capture: Int?

        func moved(to piece: Int, at position: Int, _ mode: Mode) -> State {
            State(piece: piece, position: position, mode: mode, start: start, capture: capture)
        }
    }

    /// The value of a piece, and the number of the one before it.
    private struct Capture {
        let piece: Int
        let range: Range<Int>
        let previous: Int?
    }

    private var pieces: [Piece] = []
    /// Whether a variable stands in two places: then a way may fail by the values before it.
    private var hasRepetitions = false

    /// Takes a template up to level 3; returns `nil` for other levels.
    init?(_ parts: [URITemplate.Part]) {
        var names: Set<String> = []
        for (index, part) in parts.enumerated() {
            guard case .expression(let expression) = part else {
                if case .literal(let literal) = part { pieces.append(.literal(literal.utf8.withUppercaseTriplets)) }
                continue
            }
            let (kind, variables) = (expression.kind, expression.variables)
            let end = pieces.count + variables.count
            let isBeforeLabel = index + 1 < parts.count && parts[index + 1].isLabel
            for (index, variable) in variables.enumerated() {
                guard variable.modifier == .none else { return nil }
                if !names.insert(variable.name).inserted { hasRepetitions = true }
                let label = kind.isNamed ? variable.name : ""
                let isBeforeDot = index + 1 == variables.count ? isBeforeLabel : kind == .label
                pieces.append(
                    .variable(
                        Variable(
                            name: variable.name,
                            kind: kind,
                            alphabet: kind.encoding,
                            first: (kind.first + label).utf8.withUppercaseTriplets,
                            separator: (kind.separator + label).utf8.withUppercaseTriplets,
                            isOptional: index == 0 && kind.first.isEmpty,
                            isShort: kind.keepsReserved || !kind.isNamed && isBeforeDot,
                            end: end
                        )
                    )
                )
            }
        }
    }

    /// The values of the variables, if the whole address matches.
    func match(_ address: String) -> [String: URITemplate.Value]? {
        // "%2f" and "%2F" mean the same address, and so do "é" and "%C3%A9".
        let input = ASCIISet.address.encode(address, keepsTriplets: true).utf8.withUppercaseTriplets
        let count = (pieces.count + 1) * (input.count + 1) * 4
        var seen = [Bool](repeating: false, count: hasRepetitions ? 0 : count)
        // With a repeated variable, a state may fail by the values before it: the search is bounded instead.
        var steps = 0
        var (states, captures) = ([State()], [Capture]())
        while let state = states.popLast(), steps < count * 8 {
            steps += 1
            guard state.piece < pieces.count else {
                if state.position == input.count, let values = values(captures, endingAt: state.capture, in: input) {
                    return values
                }
                continue
            }
            if !hasRepetitions {
                let key = (state.piece * 4 + state.mode.rawValue) * (input.count + 1) + state.position
                guard !seen[key] else { continue }
                seen[key] = true
            }
            switch pieces[state.piece] {
            case .literal(let literal):
                guard input[state.position...].starts(with: literal) else { continue }
                states.append(state.moved(to: state.piece + 1, at: state.position + literal.count, .fresh))
            case .variable(let variable): push(state, variable, input, to: &states, &captures)
            }
        }
        return nil
    }

    /// Appends the states that follow one at a variable; the preferred one is the last.
    private func push(
        _ state: State,
        _ variable: Variable,
        _ input: [UInt8],
        to states: inout [State],
        _ captures: inout [Capture]
    ) {
        let (piece, position) = (state.piece, state.position)
        let isLast = piece + 1 == variable.end
        switch state.mode {
        case .fresh, .begun:
            if variable.kind.isNamed {
                states.append(state.moved(to: piece + 1, at: position, isLast ? .fresh : state.mode))
            } else if !variable.isOptional {
                states.append(state.moved(to: variable.end, at: position, .fresh))
            }
            let prefix = state.mode == .fresh ? variable.first : variable.separator
            guard input[position...].starts(with: prefix) else { return }
            var value = state.moved(to: piece, at: position + prefix.count, .behind)
            value.start = value.position
            if variable.kind.isNamed {
                // "{;x}" is written without "=" if x is empty.
                if variable.kind == .parameters { states.append(value) }
                guard input[value.start...].first == UInt8(ascii: "=") else { return }
                value.start += 1
            }
            states.append(value.moved(to: piece, at: value.start, .inside))
        case .inside:
            let end = state.moved(to: piece, at: position, .behind)
            let length = input.isTriplet(at: position) ? 3 : 1
            let mayGrow = position < input.count && (length == 3 || variable.alphabet.contains(input[position]))
            if !mayGrow || !variable.isShort { states.append(end) }
            if mayGrow { states.append(state.moved(to: piece, at: position + length, .inside)) }
            if mayGrow, variable.isShort { states.append(end) }
        case .behind:
            var next = state.moved(to: piece + 1, at: position, isLast ? .fresh : .begun)
            captures.append(Capture(piece: piece, range: state.start..<position, previous: state.capture))
            next.capture = captures.count - 1
            states.append(next)
        }
    }

    /// The decoded values; `nil` if one isn't UTF-8, or a repeated variable has two.
    private func values(
        _ captures: [Capture],
        endingAt last: Int?,
        in input: [UInt8]
    ) -> [String: URITemplate.Value]? {
        var values: [String: URITemplate.Value] = [:]
        var following: Int?
        var number = last
        while let present = number.map({ captures[$0] }) {
            defer { (number, following) = (present.previous, present.piece) }
            guard case .variable(let variable) = pieces[present.piece] else { continue }
            // A value behind it in its expression proves that an empty one is a value, too.
            let isProven = following == present.piece + 1 && present.piece + 1 < variable.end
            if present.range.isEmpty, variable.isOptional, !isProven { continue }
            guard let text = variable.kind.decode(input[present.range]) else { return nil }
            let value = URITemplate.Value.string(text)
            guard values.updateValue(value, forKey: variable.name).map({ $0 == value }) ?? true else { return nil }
        }
        return values
    }
}

extension URITemplate.Part {
    /// Whether it begins with a dot that may also belong to the value before.
    fileprivate var isLabel: Bool {
        if case .expression(let expression) = self { expression.kind == .label } else { false }
    }
}

extension URITemplate.Operator {
    /// The decoded value; `nil` if it isn't UTF-8.
    ///
    /// An escaped character that the expansion wouldn't escape has to stay escaped.
    fileprivate func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        String(utf8: bytes.percentDecoded(keeping: keepsReserved ? encoding + "%" : nil))
    }
}

extension Sequence<UInt8> {
    /// The bytes, with the digits of each `%XX` in upper case (RFC 3986, 6.2.2.1).
    fileprivate var withUppercaseTriplets: [UInt8] {
        var bytes = Array(self)
        for index in bytes.indices where bytes.isTriplet(at: index) {
            for digit in [index + 1, index + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] &= 0xDF }
        }
        return bytes
    }
}
