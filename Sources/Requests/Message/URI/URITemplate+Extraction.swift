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
    /// Lists, pairs and prefixes are found too. A comma that isn't escaped joins a list, as in `?fields=id,name` for
    /// `{?fields}`: that of a text would be `%2C`. The output of `{x*}` is read as a list, or as pairs if the names
    /// aren't that of the variable; of `{x:3}` only the beginning is known. If several kinds of values would expand to
    /// the address, the simplest is taken: pairs without `*` are read as a list.
    ///
    /// - Returns: The values by name. `nil` also for a malformed template, for an address whose `%XX` aren't UTF-8, and
    ///   for one that the values wouldn't expand to again, such as labels that contain dots.
    /// - Complexity: O(n · m) in the lengths of the address and the template, whatever they are.
    public func extract(from address: String) -> [String: Value]? {
        guard case .success(let parts) = parts else { return nil }
        if let values = Matcher(parts)?.match(address) { return values.mapValues(Value.string) }
        return extractComposites(from: address, parts)
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

extension URITemplate {
    /// The template as a program that reads an address.
    ///
    /// Several ways through it may match. They are tried in the order of preference, and a pair of instruction and
    /// position that has failed isn't retried. This keeps the time linear, while a backtracking expression would need
    /// exponential time.
    struct Matcher {
        private enum Instruction {
            /// Reads these bytes.
            case literal([UInt8])
            /// Reads characters of a value: as few as possible, or as many.
            case value(PercentEncoding, isShort: Bool)
            /// Notes the position.
            case note(Int)
            /// Continues at the first of these; at the second if that fails.
            case either(Int, or: Int)
            /// Continues there.
            case jump(Int)
        }

        /// A variable whose value is recorded: the n-th has its beginning in slot 2 n, and its end in the next.
        private struct Capture {
            let name: String
            let kind: Operator
            /// Whether an empty value may also mean that the variable has no value.
            let isOptional: Bool
            /// Whether the next capture, if it has a value, proves that this one has a value too.
            let hasFollower: Bool
        }

        private var program: [Instruction] = []
        private var captures: [Capture] = []
        /// The expressions and variables of the captures, if the template is of any level.
        private var owners: [PieceOwner] = []

        /// Translates a template up to level 3; returns `nil` for other levels.
        init?(_ parts: [Part]) {
            for (index, part) in parts.enumerated() {
                switch part {
                case .literal(let literal): program.append(.literal(literal.utf8.withUppercaseTriplets))
                case .expression(let expression):
                    guard expression.variables.allSatisfy({ $0.modifier == .none }) else { return nil }
                    if expression.kind.isNamed {
                        addNamed(expression) { $0.addNamedValue(of: $1, behind: $2, in: expression) }
                    } else {
                        add(expression, isBeforeLabel: parts[(index + 1)...].first?.isLabel ?? false)
                    }
                }
            }
        }

        /// Translates a template of any level into a program that finds the output of each of its expressions and
        /// variables.
        init(compositesOf parts: [Part]) {
            for (index, part) in parts.enumerated() {
                switch part {
                case .literal(let literal): program.append(.literal(literal.utf8.withUppercaseTriplets))
                case .expression(let expression) where expression.kind.isNamed:
                    addNamed(expression) { $0.addItems(of: $1, behind: $2, in: expression) }
                case .expression(let expression):
                    let kind = expression.kind
                    let choice = addChoice()
                    program.append(.literal(Array(kind.first.utf8)))
                    let isBeforeLabel = parts[(index + 1)...].first?.isLabel ?? false
                    let capture = Capture(name: "", kind: kind, isOptional: kind.first.isEmpty, hasFollower: false)
                    owners.append(.expression(expression))
                    addValue(capture, in: expression.alphabet, isShort: kind.keepsReserved || isBeforeLabel)
                    program[choice] = .either(choice + 1, or: program.count)
                }
            }
        }

        /// The pieces of the address that expressions and variables have expanded to; empty expansions are left out.
        func pieces(of address: String) -> [(PieceOwner, ArraySlice<UInt8>)]? {
            let input = PercentEncoding.address.encode(address, keepsTriplets: true).utf8.withUppercaseTriplets
            guard let slots = run(input) else { return nil }
            return captures.indices.compactMap { index in
                guard let start = slots[index * 2], let end = slots[index * 2 + 1] else { return nil }
                return start == end && captures[index].isOptional ? nil : (owners[index], input[start..<end])
            }
        }

        /// Adds all items of a variable: one with its name, or, for an exploded one, several with its name or with
        /// others.
        private mutating func addItems(of variable: Specifier, behind prefix: String, in expression: Expression) {
            let kind = expression.kind
            let slot = captures.count * 2
            captures.append(Capture(name: variable.name, kind: kind, isOptional: false, hasFollower: false))
            owners.append(.variable(variable, expression))
            program += [.literal(Array(prefix.utf8)), .note(slot)]
            let isExploded = variable.modifier == .explode
            let choice = isExploded ? addChoice() : nil
            let start = program.count
            program.append(.literal(variable.name.utf8.withUppercaseTriplets))
            addAssignment(of: kind, in: isExploded ? kind.encoding : PercentEncoding(keeping: "-._~,"))
            if let choice {
                let next = addChoice()
                program += [.literal(Array(kind.separator.utf8)), .jump(start)]
                program[next] = .either(next + 1, or: program.count)
                let end = addChoice()
                program[choice] = .either(start, or: program.count)
                let other = program.count
                program.append(.value(kind.encoding, isShort: false))
                addAssignment(of: kind, in: kind.encoding)
                // As few as possible: an item with the name of another variable belongs to that one.
                let last = addChoice()
                program += [.literal(Array(kind.separator.utf8)), .jump(other)]
                program[last] = .either(program.count, or: last + 1)
                program[end] = .jump(program.count)
            }
            program.append(.note(slot + 1))
        }

        /// Adds "=" and a value; a parameter of a path whose value is empty has neither.
        private mutating func addAssignment(of kind: Operator, in alphabet: PercentEncoding) {
            let choice = kind.emptySuffix.isEmpty ? addChoice() : nil
            program += [.literal([UInt8(ascii: "=")]), .value(alphabet, isShort: false)]
            if let choice { program[choice] = .either(choice + 1, or: program.count) }
        }

        /// Adds values without names: any number of the first variables may have one.
        private mutating func add(_ expression: Expression, isBeforeLabel: Bool) {
            var choices: [Int] = []
            if !expression.kind.first.isEmpty { choices.append(addChoice()) }
            for (index, variable) in expression.variables.enumerated() {
                if index > 0 { choices.append(addChoice()) }
                let prefix = index > 0 ? expression.kind.separator : expression.kind.first
                program.append(.literal(Array(prefix.utf8)))
                let isLast = index + 1 == expression.variables.count
                let capture = Capture(
                    name: variable.name,
                    kind: expression.kind,
                    isOptional: index == 0 && prefix.isEmpty,
                    hasFollower: !isLast
                )
                let isBeforeDot = isLast ? isBeforeLabel : expression.kind == .label
                addValue(capture, isShort: expression.kind.keepsReserved || isBeforeDot)
            }
            for choice in choices { program[choice] = .either(choice + 1, or: program.count) }
        }

        /// Adds values with names: any of them may be missing.
        ///
        /// The program has all of them twice if the first present one is written differently: `{?x,y}` begins with
        /// `?x=` or with `?y=`.
        private mutating func addNamed(
            _ expression: Expression,
            _ add: (inout Matcher, Specifier, String) -> Void
        ) {
            let kind = expression.kind
            var jumps: [(place: Int, next: Int)] = []
            if kind.first != kind.separator {
                for (index, variable) in expression.variables.enumerated() {
                    let choice = addChoice()
                    add(&self, variable, kind.first)
                    jumps.append((addChoice(), index + 1))
                    program[choice] = .either(choice + 1, or: program.count)
                }
                jumps.append((addChoice(), expression.variables.count))
            }
            var starts: [Int] = []
            for variable in expression.variables {
                starts.append(program.count)
                let choice = addChoice()
                add(&self, variable, kind.separator)
                program[choice] = .either(choice + 1, or: program.count)
            }
            starts.append(program.count)
            for jump in jumps { program[jump.place] = .jump(starts[jump.next]) }
        }

        private mutating func addNamedValue(of variable: Specifier, behind prefix: String, in expression: Expression) {
            program.append(.literal("\(prefix)\(variable.name)".utf8.withUppercaseTriplets))
            // "{;x}" is written without "=" if x is empty.
            let choice = expression.kind.emptySuffix.isEmpty ? addChoice() : nil
            program.append(.literal([UInt8(ascii: "=")]))
            let capture = Capture(name: variable.name, kind: expression.kind, isOptional: false, hasFollower: false)
            addValue(capture, isShort: false)
            guard let choice else { return }
            let end = addChoice()
            program[choice] = .either(choice + 1, or: program.count)
            let slot = captures.count * 2
            captures.append(capture)
            program += [.note(slot), .note(slot + 1)]
            program[end] = .jump(program.count)
        }

        private mutating func addValue(_ capture: Capture, in alphabet: PercentEncoding? = nil, isShort: Bool) {
            let slot = captures.count * 2
            captures.append(capture)
            let alphabet = alphabet ?? capture.kind.encoding
            program += [.note(slot), .value(alphabet, isShort: isShort), .note(slot + 1)]
        }

        /// Reserves an instruction to be set later.
        private mutating func addChoice() -> Int {
            program.append(.jump(program.count + 1))
            return program.count - 1
        }

        /// The values of the variables, if the whole address matches.
        func match(_ address: String) -> [String: String]? {
            // "%2f" and "%2F" mean the same address, and so do "é" and "%C3%A9".
            let input = PercentEncoding.address.encode(address, keepsTriplets: true).utf8.withUppercaseTriplets
            guard let slots = run(input) else { return nil }
            var values: [String: String] = [:]
            for (index, capture) in captures.enumerated() {
                guard let start = slots[index * 2], let end = slots[index * 2 + 1] else { continue }
                let isProven = capture.hasFollower && slots[index * 2 + 2] != nil
                if start == end, capture.isOptional, !isProven { continue }
                guard let value = capture.kind.decode(input[start..<end]) else { return nil }
                guard values.updateValue(value, forKey: capture.name).map({ $0 == value }) ?? true else { return nil }
            }
            return values
        }

        private enum Step {
            case go(Int, Int)
            case restore(slot: Int, Int?)
        }

        private func run(_ input: [UInt8]) -> [Int?]? {
            var slots = [Int?](repeating: nil, count: captures.count * 2)
            var visited = BitSet(count: program.count * (input.count + 1))
            var steps: [Step] = [.go(0, 0)]
            steps: while let step = steps.popLast() {
                guard case .go(var counter, var position) = step else {
                    if case .restore(let slot, let old) = step { slots[slot] = old }
                    continue
                }
                while counter < program.count {
                    guard visited.insert(counter * (input.count + 1) + position) else { continue steps }
                    switch program[counter] {
                    case .literal(let bytes):
                        guard input[position...].starts(with: bytes) else { continue steps }
                        position += bytes.count
                        counter += 1
                    case .value(let encoding, let isShort):
                        let length = input.isTriplet(at: position) ? 3 : 1
                        guard position < input.count, length == 3 || encoding.keeps(input[position]) else {
                            counter += 1
                            continue
                        }
                        steps.append(isShort ? .go(counter, position + length) : .go(counter + 1, position))
                        if isShort { counter += 1 } else { position += length }
                    case .note(let slot):
                        steps.append(.restore(slot: slot, slots[slot]))
                        slots[slot] = position
                        counter += 1
                    case .either(let first, let second):
                        steps.append(.go(second, position))
                        counter = first
                    case .jump(let target):
                        counter = target
                    }
                }
                if position == input.count { return slots }
            }
            return nil
        }
    }
}

extension URITemplate.Part {
    /// Whether it begins with a dot that may also belong to the value before.
    fileprivate var isLabel: Bool {
        guard case .expression(let expression) = self else { return false }
        return expression.kind == .label
    }
}

extension URITemplate.Operator {
    /// The decoded value; `nil` if it isn't UTF-8.
    func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        guard keepsReserved else { return String(utf8: bytes.percentDecoded()) }
        var output: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            // An escaped character that the expansion wouldn't escape has to stay escaped.
            if bytes.isTriplet(at: index), let byte = bytes[index..<(index + 3)].percentDecoded().first,
                byte != UInt8(ascii: "%"), !encoding.keeps(byte)
            {
                output.append(byte)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(utf8: output)
    }
}

extension Sequence<UInt8> {
    /// The bytes, with the digits of each `%XX` in upper case (RFC 3986, 6.2.2.1).
    var withUppercaseTriplets: [UInt8] {
        var bytes = Array(self)
        for index in bytes.indices where bytes.isTriplet(at: index) {
            for digit in [index + 1, index + 2] where bytes[digit] >= UInt8(ascii: "a") { bytes[digit] &= 0xDF }
        }
        return bytes
    }
}

/// A set of numbers from 0, with one bit each.
private struct BitSet {
    private var words: [UInt64]

    init(count: Int) {
        words = Array(repeating: 0, count: count / 64 + 1)
    }

    /// Inserts a number; returns `false` if it is already in the set.
    mutating func insert(_ number: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(number & 63)
        guard words[number >> 6] & bit == 0 else { return false }
        words[number >> 6] |= bit
        return true
    }
}
