// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Redaction {
    /// Redacts elements and attributes with secret names in XML or HTML; returns `nil` if a secret can't be isolated.
    ///
    /// - Complexity: O(n).
    static func xml(_ text: String, depth: Int) -> String? {
        var redactor = XMLRedactor(text, depth: depth)
        return redactor.redacted()
    }
}

/// Redacts elements and attributes of XML, tag by tag.
///
/// All other bytes are kept unchanged.
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

    /// Adds the text between two tags.
    ///
    /// The text may be in any other supported format.
    private mutating func addText(_ text: ArraySlice<UInt8>) {
        let value = String(decoding: text, as: UTF8.self)
        let shown = Redaction.text(value, depth: depth + 1)
        if shown == value { result += text } else { result += shown.utf8 }
    }

    /// Adds a tag, a comment or other markup; returns false if it contains a secret that can't be redacted.
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

    /// Adds markup that isn't parsed; returns false if it contains a secret.
    private mutating func addUnparsed(to end: String) -> Bool {
        guard let found = find(end, from: index) else {
            return !PairScanner(bytes[index...]).hasSecretPair && addRest()
        }
        let markup = bytes[index..<found]
        guard !PairScanner(markup).hasSecretPair else { return false }
        // An entity declaration can give a name to a value.
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

    /// Adds the tag of an element, and replaces its text if that is a secret.
    private mutating func addElement() -> Bool {
        let start = index + 1
        index = start
        let name = readName()
        guard !name.isEmpty else {
            result.append(UInt8(ascii: "<"))
            return true
        }
        let local = Self.localName(name)
        let attributes = readAttributes()
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">") else {
            return !PairScanner(bytes[(start - 1)...]).hasSecretPair && !Self.secretName(local).isSecret
                && addRest(from: start - 1)
        }
        // In `<add key="password" value="…"/>`, one attribute contains the name, and another the value.
        let naming =
            attributes
            .filter { ["name", "key", "id", "property"].contains(Self.localName(bytes[$0.name]).lowercased()) }
            .map { Self.secretName(String(decoding: bytes[$0.value], as: UTF8.self)) }
            .first { $0.isSecret }
        var position = start - 1
        for attribute in attributes {
            let name = Self.localName(bytes[attribute.name])
            let value = String(decoding: bytes[attribute.value], as: UTF8.self)
            let isValue = ["value", "content", "default", "data"].contains(name.lowercased())
            // The attribute with the name isn't a secret itself.
            let isNaming = Self.secretName(value).isSecret && name.lowercased() == "key"
            let isRedacted =
                !isNaming && Self.secretName(name).redacts(value[...], isTyped: true)
                || isValue && naming?.redacts(value[...], isTyped: true) ?? false
            let shown = isRedacted ? "REDACTED" : Redaction.text(value, depth: depth + 1)
            guard shown != value else { continue }
            result += bytes[position..<attribute.value.lowerBound]
            result += shown.utf8
            position = attribute.value.upperBound
        }
        let isEmpty = bytes[index - 1] == UInt8(ascii: "/")
        index += 1
        result += bytes[position..<index]
        let elementSecret = Self.secretName(local)
        if isEmpty || Self.voidElements.contains(local.lowercased()) { return true }
        guard let secret = elementSecret.isSecret ? elementSecret : naming else {
            return local.lowercased() != "name" || !nextTextIsSecretName
        }
        guard let end = endOfElement(name) else { return false }
        let text = bytes[index..<end]
        let value = String(decoding: text, as: UTF8.self)
        // In a property list, one element contains the name, and the next element the value.
        if local.lowercased() == "key", Redaction.isSecretName(value) { return false }
        let isHidden = text.contains { $0 > UInt8(ascii: " ") } && secret.redacts(value[...], isTyped: true)
        if isHidden {
            result += "REDACTED".utf8
            index = end
        }
        return true
    }

    private mutating func addRest(from start: Int) -> Bool {
        index = start
        return addRest()
    }

    /// Whether the text up to the next tag is the name of a secret whose value may be in another element.
    private var nextTextIsSecretName: Bool {
        Redaction.isSecretName(String(decoding: bytes[index...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self))
    }

    /// Returns the index of the end tag of an open element, or `nil` if it is missing.
    private func endOfElement(_ name: ArraySlice<UInt8>) -> Int? {
        var (level, position) = (0, index)
        while let tag = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = tag + 1
            let isEnd = position < bytes.count && bytes[position] == UInt8(ascii: "/")
            let rest = bytes[position...].dropFirst(isEnd ? 1 : 0)
            guard rest.starts(with: name), let next = rest.dropFirst(name.count).first, !Self.isNameByte(next) else {
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
        while index < bytes.count, Self.isNameByte(bytes[index]) { index += 1 }
        return bytes[start..<index]
    }

    /// Reads attributes up to the end of a tag, with or without quotes.
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

    /// Returns a name without its namespace prefix.
    private static func localName(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
    }

    private static func secretName(_ name: String) -> SecretName { Redaction.secretName(name) }

    private static func isNameByte(_ byte: UInt8) -> Bool { byte >= 0x80 || nameBytes.contains(byte) }

    private static let nameBytes = ASCIISet.alphanumerics + "-_:.@[]"
    /// HTML elements that have no end tag.
    private static let voidElements: Set = [
        "input", "meta", "link", "param", "br", "img", "source", "area", "base", "embed",
    ]
}
