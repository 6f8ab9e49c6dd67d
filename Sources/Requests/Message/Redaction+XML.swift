// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Redaction {
    /// XML or HTML without the text of elements, and the values of attributes, that are secrets by their name; `nil` if
    /// it names a secret in a way that can't be parsed.
    ///
    /// - Complexity: O(n).
    static func xml(_ text: String, depth: Int) -> String? {
        var redactor = XMLRedactor(text, depth: depth)
        return redactor.redacted()
    }
}

/// Redacts the elements and attributes of XML, one tag after the other, and keeps all other bytes as they are.
private struct XMLRedactor {
    private let bytes: [UInt8]
    private let depth: Int
    private var index = 0
    private var result: [UInt8] = []

    init(_ text: String, depth: Int) {
        bytes = Array(text.utf8)
        self.depth = depth
    }

    mutating func redacted() -> String? {
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                let start = index
                while index < bytes.count, bytes[index] != UInt8(ascii: "<") { index += 1 }
                addText(bytes[start..<index])
                continue
            }
            guard addMarkup() else { return nil }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Adds the characters between tags, which may have any other form.
    private mutating func addText(_ text: ArraySlice<UInt8>) {
        let value = String(decoding: text, as: UTF8.self)
        let shown = Redaction.text(value, depth: depth + 1)
        if shown == value { result += text } else { result += shown.utf8 }
    }

    /// Adds a tag, a comment or the like; returns false if it hides a secret.
    private mutating func addMarkup() -> Bool {
        if hasPrefix("<!--") { return addUnparsed(to: "-->") }
        if hasPrefix("<![CDATA[") {
            let start = index + "<![CDATA[".utf8.count
            guard let end = find("]]>", from: start) else { return false }
            result += "<![CDATA[".utf8
            addText(bytes[start..<end])
            result += "]]>".utf8
            index = end + "]]>".utf8.count
            return true
        }
        if hasPrefix("<?") { return addUnparsed(to: "?>") }
        if hasPrefix("<!") || hasPrefix("</") { return addUnparsed(to: ">") }
        return addElement()
    }

    /// Adds markup that isn't parsed, unless it has a secret.
    private mutating func addUnparsed(to end: String) -> Bool {
        guard let found = find(end, from: index) else { return !PairScanner(bytes[index...]).namesSecret && addRest() }
        let markup = bytes[index..<found]
        guard !PairScanner(markup).namesSecret else { return false }
        // A declaration may give a name to a value.
        let declaration = String(decoding: markup, as: UTF8.self)
        if declaration.contains("<!ENTITY"), Redaction.isSecretName(declaration) { return false }
        result += markup + Array(end.utf8)
        index = found + end.utf8.count
        return true
    }

    private mutating func addRest() -> Bool {
        result += bytes[index...]
        index = bytes.count
        return true
    }

    // MARK: Elements

    /// Adds the tag of an element and, if its text is a secret, the whole element without it.
    private mutating func addElement() -> Bool {
        let start = index + 1
        index = start
        let name = readName()
        guard !name.isEmpty else {
            result.append(UInt8(ascii: "<"))
            return true
        }
        let local = Self.local(name)
        let attributes = readAttributes()
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">") else {
            return !PairScanner(bytes[(start - 1)...]).namesSecret && !Self.secretName(local).isSecret
                && restart(at: start - 1)
        }
        // `<add key="password" value="…"/>`: one attribute names the others.
        let naming =
            attributes
            .filter { ["name", "key", "id", "property"].contains(Self.local(bytes[$0.name]).lowercased()) }
            .map { Self.secretName(String(decoding: bytes[$0.value], as: UTF8.self)) }
            .first { $0.isSecret }
        var position = start - 1
        for attribute in attributes {
            let name = Self.local(bytes[attribute.name])
            let value = String(decoding: bytes[attribute.value], as: UTF8.self)
            let isValue = ["value", "content", "default", "data"].contains(name.lowercased())
            // The attribute that names the others isn't a secret itself.
            let isNaming = Self.secretName(value).isSecret && name.lowercased() == "key"
            let hides =
                !isNaming && Self.secretName(name).hides(value[...], isTyped: true)
                || isValue && naming?.hides(value[...], isTyped: true) ?? false
            let shown = hides ? "REDACTED" : Redaction.text(value, depth: depth + 1)
            guard shown != value else { continue }
            result += bytes[position..<attribute.value.lowerBound]
            result += shown.utf8
            position = attribute.value.upperBound
        }
        let isEmpty = bytes[index - 1] == UInt8(ascii: "/")
        index += 1
        result += bytes[position..<index]
        let own = Self.secretName(local)
        if isEmpty || Self.void.contains(local.lowercased()) { return true }
        guard let secret = own.isSecret ? own : naming else { return local.lowercased() != "name" || !namesSecret }
        guard let end = endOfElement(name) else { return false }
        let text = bytes[index..<end]
        let value = String(decoding: text, as: UTF8.self)
        // A property list has the name in one element and the value in the next.
        if local.lowercased() == "key", Redaction.isSecretName(value) { return false }
        let isHidden = text.contains { $0 > UInt8(ascii: " ") } && secret.hides(value[...], isTyped: true)
        if isHidden {
            result += "REDACTED".utf8
            index = end
        }
        return true
    }

    private mutating func restart(at start: Int) -> Bool {
        index = start
        return addRest()
    }

    /// Whether the text up to the next tag names a secret, which may be in another element.
    private var namesSecret: Bool {
        Redaction.isSecretName(String(decoding: bytes[index...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self))
    }

    /// The index of the end tag of an element that was opened; `nil` if it is missing.
    private func endOfElement(_ name: ArraySlice<UInt8>) -> Int? {
        var (level, position) = (0, index)
        while let tag = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = tag + 1
            let isEnd = position < bytes.count && bytes[position] == UInt8(ascii: "/")
            let rest = bytes[position...].dropFirst(isEnd ? 1 : 0)
            guard rest.starts(with: name), let next = rest.dropFirst(name.count).first, !Self.isName(next) else {
                continue
            }
            if !isEnd {
                level += 1
            } else if level == 0 {
                return tag
            } else {
                level -= 1
            }
        }
        return nil
    }

    // MARK: Tags

    private mutating func readName() -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, Self.isName(bytes[index]) { index += 1 }
        return bytes[start..<index]
    }

    /// Reads attributes up to the end of a tag, with and without quotes.
    private mutating func readAttributes() -> [(name: Range<Int>, value: Range<Int>)] {
        var attributes: [(Range<Int>, Range<Int>)] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: ">") {
            let name = readName()
            guard !name.isEmpty else {
                index += 1
                continue
            }
            skipBlanks()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { continue }
            index += 1
            skipBlanks()
            guard index < bytes.count else { break }
            let quote = "\"'".utf8.contains(bytes[index]) ? bytes[index] : nil
            if quote != nil { index += 1 }
            let start = index
            while index < bytes.count, quote.map({ bytes[index] != $0 }) ?? !" \t\r\n>".utf8.contains(bytes[index]) {
                index += 1
            }
            attributes.append((name.startIndex..<name.endIndex, start..<index))
            if quote != nil, index < bytes.count { index += 1 }
        }
        return attributes
    }

    private mutating func skipBlanks() {
        while index < bytes.count, " \t\r\n".utf8.contains(bytes[index]) { index += 1 }
    }

    private func hasPrefix(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    private func find(_ text: String, from start: Int) -> Int? {
        let pattern = Array(text.utf8)
        guard var position = bytes[start...].firstIndex(of: pattern[0]) else { return nil }
        while true {
            if bytes[position...].starts(with: pattern) { return position }
            guard let next = bytes[(position + 1)...].firstIndex(of: pattern[0]) else { return nil }
            position = next
        }
    }

    /// The name without the prefix of its namespace.
    private static func local(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
    }

    private static func secretName(_ name: String) -> SecretName { Redaction.secretName(name) }

    private static func isName(_ byte: UInt8) -> Bool { byte >= 0x80 || names.contains(byte) }

    private static let names = ASCIISet.alphanumerics + "-_:.@[]"
    /// Elements of HTML that have no end.
    private static let void: Set = ["input", "meta", "link", "param", "br", "img", "source", "area", "base", "embed"]
}
