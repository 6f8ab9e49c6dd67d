// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The JSON file of a cookie jar; only its owner can read the file, and each write replaces the file completely.
struct CookieFile: Sendable {
    /// The content of the file.
    ///
    /// The version changes if an older release of the library would lose data.
    private struct Content<Record: Codable>: Codable {
        var version = CookieFile.version
        var cookies: [Record]
    }

    /// A record that is decoded as empty if it is invalid, so that the other records can still be read.
    private struct AnyRecord: Codable {
        let entry: CookieStore.Entry?

        init(from decoder: any Decoder) throws {
            entry = (try? CookieStore.Entry(from: decoder)).flatMap { $0.cookie.isAcceptable ? $0 : nil }
        }

        func encode(to encoder: any Encoder) throws { try entry?.encode(to: encoder) }
    }

    private static let version = 2

    let url: URL

    /// Reads the cookies of the file, and returns them with the reason why each invalid record is skipped.
    ///
    /// If the file doesn't exist yet, there are no cookies.
    ///
    /// - Throws: ``FileError`` if the file can't be read or isn't a cookie file, or if its folder doesn't exist.
    func read() throws(FileError) -> (cookies: [CookieStore.Entry], skipped: [FileError]) {
        guard url.isFileURL else { throw FileError(.cannotReadFile, url, "not a file URL") }
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
            throw FileError(.damaged, url, "not a cookie file")
        }
        guard content.version == Self.version else {
            throw FileError(.damaged, url, "unknown version \(content.version)")
        }
        let skipped = content.cookies.indices.filter { content.cookies[$0].entry == nil }
            .map { FileError(.damaged, url, "record \($0 + 1) isn't a valid cookie, so it was skipped") }
        return (content.cookies.compactMap(\.entry), skipped)
    }

    /// Replaces the file with one that contains these cookies.
    ///
    /// The replacement is atomic. Readers in this or another process see either the old or the new file, and after a
    /// crash, one of the two exists.
    ///
    /// - Throws: ``FileError`` if the file can't be written. The old file then still exists.
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
    /// Whether a cookie that was read from a file obeys the rules for cookies.
    fileprivate var isAcceptable: Bool {
        cookie.isWellFormed && name.utf8.count + value.utf8.count <= CookieStore.maximumCookieSize && expires != nil
            && HostPattern.isHost(domain) && (isHostOnly || !PublicSuffixes.system.contains(domain))
            && path.utf8.first == UInt8(ascii: "/") && path.isFieldValue
    }
}

extension SetCookie.SameSite: Codable {}

extension KeyedDecodingContainer {
    /// Decodes an unknown value as `nil`, so that the cookie remains valid.
    func decodeIfPresent(_ type: SetCookie.SameSite.Type, forKey key: Key) throws -> SetCookie.SameSite? {
        try decodeIfPresent(String.self, forKey: key).flatMap(SetCookie.SameSite.init)
    }
}
