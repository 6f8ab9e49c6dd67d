// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension SetCookie {
    /// Reads the value of one `Set-Cookie` field, as browsers do (RFC 6265, 5.2); nil where they would ignore it.
    ///
    /// Ignored are a cookie without a name, one with a control character, and one of more than 4,096 bytes; of the
    /// attributes, those of more than 1,024 bytes. Of an attribute that stands there twice, the last counts.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init?(parsing text: String) {
        guard text.isFieldValue else { return nil }
        let pieces = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = pieces.first, let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (name, value) = Self.split(first, at: equals)
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= 4096 else { return nil }
        self.init(name, value)
        for piece in pieces.dropFirst() where piece.count <= 1024 {
            let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            let (name, value) = Self.split(piece, at: equals)
            set(name.lowercasedASCII, to: value)
        }
    }

    private mutating func set(_ attribute: String, to value: String) {
        switch attribute {
        case "domain":
            let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercasedASCII
            self.domain = domain.isEmpty ? nil : domain
        case "path": path = value.hasPrefix("/") ? value : nil
        case "expires": if let date = CivilTime(cookieDate: value) { expires = HTTPDate(date) }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = .seconds(seconds) }
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            sameSite = [.strict, .lax, .none].first { $0.rawValue.equalsIgnoringASCIICase(value) }
        default: break
        }
    }

    /// More than some thirty years are read as those.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        guard digits.count == text.utf8.count else { return 0 }
        return min(Int64(text) ?? .max, 1_000_000_000)
    }

    private static func split(_ piece: Substring.UTF8View, at equals: String.Index) -> (name: String, value: String) {
        let value = equals < piece.endIndex ? piece[piece.index(after: equals)...] : piece[piece.endIndex...]
        return (String(Substring(piece[..<equals])).trimmedOfBlanks, String(Substring(value)).trimmedOfBlanks)
    }
}

extension CivilTime {
    /// Reads the date of a cookie, in any order and with anything between its parts (RFC 6265, 5.1.1).
    init?(cookieDate text: String) {
        var clock: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: { $0.separatesDates }) {
            if clock == nil, let found = Self.clock(token) {
                clock = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, var year else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        self.init(year: year, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
        guard isValid, year >= 1601, second < 60 else { return nil }
    }

    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        // What follows the third number is ignored where it doesn't begin with a digit, colons included.
        guard parts.count >= 3, let hour = exactNumber(parts[0]), let minute = exactNumber(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return [hour, minute, second]
    }

    private static func exactNumber(_ text: Substring.UTF8View) -> Int? {
        (1...2).contains(text.count) && text.allSatisfy(ASCII.isDigit) ? Int(Substring(text)) : nil
    }

    /// The number at the beginning of a text, where so many digits stand there and not more.
    private static func number(_ text: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = text.prefix(while: ASCII.isDigit)
        return digits.contains(number.count) ? Int(Substring(number)) : nil
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self)
        return HTTPDate.months.firstIndex { $0.equalsIgnoringASCIICase(name) }.map { $0 + 1 }
    }
}

extension UInt8 {
    /// Whether the byte stands between the parts of a cookie's date.
    fileprivate var separatesDates: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
