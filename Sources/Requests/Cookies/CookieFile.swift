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
        let entry: CookieStore.Entry?

        init(from decoder: any Decoder) throws {
            entry = (try? CookieStore.Entry(from: decoder)).flatMap { $0.cookie.isAcceptable ? $0 : nil }
        }

        func encode(to encoder: any Encoder) throws { try entry?.encode(to: encoder) }
    }

    private static let version = 2

    let url: URL

    /// Reads the cookies of the file, and the reasons why others are skipped; empty if the file doesn't exist but can
    /// be created.
    ///
    /// - Throws: ``FileError`` for a file that can't be read or isn't a cookie file.
    func read() throws(FileError) -> (cookies: [CookieStore.Entry], skipped: [FileError]) {
        guard url.isFileURL else { throw FileError(.cannotReadFile, url, "it isn't the URL of a file") }
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile {
            var isFolder: ObjCBool = false
            let folder = url.deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw FileError(.cannotReadFile, url, "its folder doesn't exist")
            }
            return ([], [])
        } catch {
            throw FileError(.cannotReadFile, url, error.localizedDescription)
        }
        guard let content = try? JSONDecoder().decode(Content<AnyRecord>.self, from: data) else {
            throw FileError(.damaged, url, "it isn't a cookie file")
        }
        guard content.version == Self.version else {
            throw FileError(.damaged, url, "its version \(content.version) is unknown")
        }
        let skipped = content.cookies.indices.filter { content.cookies[$0].entry == nil }
            .map { FileError(.damaged, url, "record \($0 + 1) isn't a valid cookie, and is skipped") }
        return (content.cookies.compactMap(\.entry), skipped)
    }

    /// Replaces the file by one with these cookies.
    ///
    /// A reader at the same time, in this process or another, sees the old file or the new one, and after a crash one
    /// of them exists.
    ///
    /// - Throws: ``FileError`` if it can't be written; then the old one still exists.
    func replace(with cookies: [CookieStore.Entry]) throws(FileError) {
        do {
            let bytes = try JSONEncoder().encode(Content(cookies: cookies))
            try PrivateFile.replace(url.path, with: bytes, isDurable: true)
        } catch let error as POSIXError {
            throw FileError(url, errno: error.code.rawValue)
        } catch {
            throw FileError(.cannotWriteFile, url, error.localizedDescription)
        }
    }
}

extension CookieJar.StoredCookie {
    /// Whether the rules of cookies would accept a cookie that was read from a file.
    fileprivate var isAcceptable: Bool {
        cookie.isWellFormed && name.utf8.count + value.utf8.count <= CookieStore.maximumCookieSize && expires != nil
            && HostPattern.isHost(domain) && (isHostOnly || !PublicSuffixes.system.contains(domain))
            && path.utf8.first == UInt8(ascii: "/") && path.isFieldValue
    }
}

extension SetCookie.SameSite: Codable {}

extension KeyedDecodingContainer {
    /// Decodes an unknown value as `nil`, for the cookie that has it.
    func decodeIfPresent(_ type: SetCookie.SameSite.Type, forKey key: Key) throws -> SetCookie.SameSite? {
        try decodeIfPresent(String.self, forKey: key).flatMap(SetCookie.SameSite.init)
    }
}
