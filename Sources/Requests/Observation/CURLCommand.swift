// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The shell command that sends a request with `curl`, byte for byte as the library sends it.
///
/// All parts of the request are in single quotes, in which a POSIX shell neither changes nor runs anything.
struct CURLCommand {
    /// The maximum size of an argument of the command; larger content is piped into `curl`.
    private static let maximumArgumentSize = 64 * 1024
    /// The maximum size of content that `curl` sends without an `Expect` field, which the library never sends.
    private static let maximumSizeWithoutExpect = 1024 * 1024

    private let request: HTTPRequest
    private let redacts: Bool
    private let isOneLine: Bool
    private var options: [String] = []
    private var pipedCommands: String?

    /// - Parameters:
    ///   - request: A request that is ready to send.
    ///   - redacts: Whether secret values are redacted.
    ///   - isOneLine: Whether the command is a single line of visible characters, whatever the content is; for a log.
    /// - Throws: ``InvalidValue`` if the body is a stream other than a form's.
    init(_ request: HTTPRequest, redacts: Bool, isOneLine: Bool = false) throws {
        self.request = request
        self.redacts = redacts
        self.isOneLine = isOneLine
        addMethod()
        addHeaders()
        try addBody()
        addAddress()
    }

    var text: String {
        let command = (["curl"] + options).joined(separator: isOneLine ? " " : " \\\n  ")
        return pipedCommands.map { "\($0) | \(command)" } ?? command
    }

    private mutating func addMethod() {
        switch request.method {
        case .head where request.body.isEmpty: options.append("--head")
        case .get where request.body.isEmpty: break
        default: options.append("--request \(request.method.rawValue.quotedForShell)")
        }
    }

    private mutating func addHeaders() {
        for field in request.headers {
            let value = redacts ? Redaction.value(of: field) : field.value
            // In curl, a name followed by a semicolon sends an empty value.
            let line = value.trimmedOfBlanks.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
            options.append("--header \(line.quotedForShell)")
        }
        // Remove the fields that curl would add by itself.
        if !request.headers.contains(.userAgent) { options.append("--header 'User-Agent:'") }
        if !request.body.isEmpty, !request.headers.contains(.contentType) { options.append("--header 'Content-Type:'") }
        if request.decodesContent, !request.headers.contains(.acceptEncoding) { options.append("--compressed") }
        if !request.usesHTTP2 { options.append("--http1.1") }
    }

    // MARK: Body

    private mutating func addBody() throws {
        switch request.body.content {
        case .none:
            // Without content, curl sends no `Content-Length`, but the library does (RFC 9110, 8.6).
            if [.post, .put, .patch].contains(request.method) { options.append("--header 'Content-Length: 0'") }
        case .data(let data):
            add(redacts ? Redaction.content(data, of: request.headers) ?? Self.redacted : data)
        case .file(let url):
            options.append("--data-binary \(("@" + url.path).quotedForShell)")
            options.append("--header 'Expect:'")
        case .stream:
            guard let form = request.body.source as? MultipartForm else {
                throw InvalidValue(.body, "is a stream, which a curl command can't contain")
            }
            let pieces = try form.sectionContents()
            guard !redacts || !request.headers.isEncoded && !Self.containSecretNames(pieces) else {
                return add(Self.redacted)
            }
            pipe(pieces.map(Self.command).joined(separator: "; "))
        }
    }

    private mutating func add(_ data: Data) {
        if data.count <= Self.maximumArgumentSize, let text = String(utf8: data), !text.utf8.contains(0),
            !isOneLine || text == text.shortened(to: .max)
        {
            // With `--data-binary`, an @ at the beginning of the value would name a file.
            options.append(
                "\(text.utf8.first == UInt8(ascii: "@") ? "--data-raw" : "--data-binary") \(text.quotedForShell)"
            )
        } else {
            pipe(Self.command(for: .data(data)))
        }
        if data.count > Self.maximumSizeWithoutExpect { options.append("--header 'Expect:'") }
    }

    private static let redacted = Data("<redacted>".utf8)

    /// Returns whether a part of a form has a secret name; the parts can't be redacted separately here.
    private static func containSecretNames(_ pieces: [HTTPBody.Content]) -> Bool {
        pieces.contains { piece in
            guard case .data(let data) = piece else { return false }
            return Redaction.content(data, type: "multipart/form-data") != data
        }
    }

    private mutating func pipe(_ commands: String) {
        pipedCommands = "{ \(commands); }"
        options.append("--data-binary @-")
        options.append("--header 'Expect:'")
    }

    private static func command(for piece: HTTPBody.Content) -> String {
        switch piece {
        case .data(let data): "printf -- \(data.escapedForPrintf.quotedForShell)"
        case .file(let url): "cat \(url.path.quotedForShell)"
        case .none, .stream: ":"
        }
    }

    // MARK: Address

    private mutating func addAddress() {
        let address = redacts ? Redaction.address(request.url.absoluteString) : request.url.absoluteString
        // By default, curl treats brackets and braces as patterns, and resolves dot segments.
        if address.contains(where: "[]{}".contains) { options.append("--globoff") }
        if address.contains("/.") { options.append("--path-as-is") }
        options.append("--url \(address.quotedForShell)")
    }
}

extension String {
    /// The string as a single word of a POSIX shell, without special characters.
    fileprivate var quotedForShell: String {
        // Split the bytes, as the shell does: in Swift, a quote followed by a combining mark is a different character.
        let pieces = utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + String(decoding: Array(pieces.joined(separator: "'\\''".utf8)), as: UTF8.self) + "'"
    }
}

extension Data {
    /// The bytes as a `printf` format, in visible ASCII.
    fileprivate var escapedForPrintf: String {
        var text = ""
        text.reserveCapacity(count * 2)
        for byte in self {
            switch byte {
            case UInt8(ascii: "%"): text += "%%"
            case UInt8(ascii: "\\"), UInt8(ascii: "'"): text += Self.octal(byte)
            case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += Self.octal(byte)
            }
        }
        return text
    }

    /// Returns the octal escape of a byte: a backslash and three digits.
    private static func octal(_ byte: UInt8) -> String { "\\" + String(0o1000 + Int(byte), radix: 8).dropFirst() }
}
