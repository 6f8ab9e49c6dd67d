// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The file of a jar: JSON that only its owner reads, replaced as a whole.
struct CookieFile: Sendable {
    /// The content; its version changes if an older release would lose something of it.
    private struct Content<Record: Codable>: Codable {
        var version = CookieFile.version
        var cookies: [Record]
    }

    /// A record that may be invalid, without making the others unreadable.
    private struct AnyRecord: Codable {
        let record: Record?

        init(from decoder: any Decoder) throws {
            record = try? Record(from: decoder)
        }

        func encode(to encoder: any Encoder) throws { try record?.encode(to: encoder) }
    }

    private static let version = 1

    /// One cookie; spelled out, so that the file doesn't change with the type.
    struct Record: Codable {
        let name: String
        let value: String
        let domain: String
        let isHostOnly: Bool
        let path: String
        let created: Date
        let expires: Date
        let isSecure: Bool
        let isHTTPOnly: Bool
        let sameSite: String?
        let use: Int
    }

    let url: URL

    /// Reads the cookies of the file, and the reasons why others are skipped; empty if the file doesn't exist but can be
    /// created.
    ///
    /// - Throws: ``CookieJar/FileError`` for a file that can't be read or isn't a cookie file.
    func read() throws(CookieJar.FileError) -> (cookies: [CookieStore.Kept], skipped: [CookieJar.FileError]) {
        guard url.isFileURL else { throw CookieJar.FileError(.unreadable, url, "it isn't the URL of a file") }
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile {
            var isFolder: ObjCBool = false
            let folder = url.deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw CookieJar.FileError(.unreadable, url, "there is no folder for it")
            }
            return ([], [])
        } catch {
            throw CookieJar.FileError(.unreadable, url, error.localizedDescription)
        }
        guard let content = try? JSONDecoder().decode(Content<AnyRecord>.self, from: data) else {
            throw CookieJar.FileError(.damaged, url, "it holds something else")
        }
        guard content.version == Self.version else {
            throw CookieJar.FileError(.damaged, url, "it is of version \(content.version), which isn't known")
        }
        let kept = content.cookies.map { $0.record?.kept }
        let skipped = kept.indices.filter { kept[$0] == nil }
            .map { CookieJar.FileError(.damaged, url, "record \($0 + 1) isn't a valid cookie, and is skipped") }
        return (kept.compactMap(\.self), skipped)
    }

    /// Replaces the file by one with these cookies.
    ///
    /// A reader at the same time, in this process or another, sees the old file or the new one, and after a crash one
    /// of them exists.
    ///
    /// - Throws: ``CookieJar/FileError`` if it can't be written; then the old one still exists.
    func replace(with cookies: [CookieStore.Kept]) throws(CookieJar.FileError) {
        let temporary = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            let content = Content(cookies: cookies.compactMap(Record.init))
            try Self.create(temporary, with: try JSONEncoder().encode(content))
            try Self.check(rename(temporary.path, url.path))
        } catch {
            unlink(temporary.path)
            throw CookieJar.FileError(.unwritable, url, error.localizedDescription)
        }
    }

    /// Makes a file that only its owner can read from its first moment on, and flushes it to the disk.
    private static func create(_ file: URL, with data: Data) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(descriptor)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: data)
        try handle.synchronize()
        try handle.close()
    }

    private static func check(_ result: Int32) throws {
        guard result < 0 else { return }
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

extension CookieFile.Record {
    fileprivate init?(_ kept: CookieStore.Kept) {
        let cookie = kept.cookie
        guard let expires = cookie.expires else { return nil }
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            isHostOnly: cookie.isHostOnly,
            path: cookie.path,
            created: cookie.created,
            expires: expires,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite?.rawValue,
            use: kept.use
        )
    }

    /// The cookie; `nil` if the rules of cookies would have refused it.
    fileprivate var kept: CookieStore.Kept? {
        guard Cookie(name, value).isWhole, name.utf8.count + value.utf8.count <= CookieStore.largestCookie,
            CookieAddress.isHost(domain), isHostOnly || !PublicSuffixes.system.contains(domain),
            path.utf8.first == UInt8(ascii: "/"), path.isFieldValue
        else { return nil }
        let cookie = CookieJar.StoredCookie(
            name: name,
            value: value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            created: created,
            expires: expires,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite.flatMap(SetCookie.SameSite.init)
        )
        return CookieStore.Kept(cookie: cookie, use: use)
    }
}

extension CookieJar {
    /// The reason why the file of a ``CookieJar`` can't be read or written.
    public struct FileError: ExplainedError, Sendable, CustomStringConvertible, LocalizedError {
        /// The kind of error.
        public enum Code: String, Sendable, Hashable {
            /// The file, or the folder that it is to be in, can't be read.
            case unreadable
            /// The file isn't a cookie file, or is incomplete.
            case damaged
            /// The file can't be written.
            case unwritable
        }

        /// The kind of error.
        public let code: Code
        /// The file.
        public let file: URL
        /// The system's message, or the problem with the content; never the content itself.
        public let reason: String

        /// Makes the error.
        public init(_ code: Code, _ file: URL, _ reason: String) {
            self.code = code
            self.file = file
            self.reason = reason
        }

        /// The error, in a sentence.
        public var description: String {
            "the file of cookies “\(file.lastPathComponent)” is \(code.rawValue): \(reason)"
        }

        /// The error, as a text for users.
        public var errorDescription: String? { description }
    }
}
