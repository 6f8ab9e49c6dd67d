// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Download {
    /// A token that resumes an interrupted download, now or later, even in another process.
    ///
    /// ```swift
    /// defaults.set(token.data, forKey: "film")
    /// let token = try Download.ResumeToken(data: data)
    /// ```
    ///
    /// A token contains the location of the partial file, and identifies the representation that it belongs to. It
    /// contains neither the request nor credentials, and only a digest of the URL, so you can store it where secrets
    /// aren't allowed. The URL may be different when the download is resumed, because signed URLs expire. The server
    /// must then confirm that the file is unchanged, or the download starts over.
    ///
    /// The partial file exists as long as its operation, or one of its tokens, is in memory. To keep the file longer,
    /// store a token, or start a download with the token. From then on, you own the file: call ``discard()`` if you
    /// don't need it.
    public struct ResumeToken: Sendable, Hashable, Codable {
        /// The encoded part of the token, which also determines whether tokens are equal.
        private struct Content: Sendable, Hashable, Codable {
            let manifest: DownloadManifest
            /// The path of the partial file, abbreviated with `~` in the home directory, because some systems move an
            /// app's home.
            let path: String
            let receivedLength: Int64
        }

        private let content: Content
        private var claim = IgnoredInEquality<PartialFileClaim?>(value: nil)

        var manifest: DownloadManifest { content.manifest }
        /// The byte count of the partial file when the token was created.
        public var receivedLength: Int64 { content.receivedLength }
        /// The byte count of the complete file; `nil` if the server doesn't send it.
        public var totalLength: Int64? { manifest.total }
        /// The time at which the download began.
        public var created: Date { manifest.created }

        init(
            _ manifest: DownloadManifest,
            file: URL,
            length: Int64,
            claim: PartialFileClaim? = nil,
            home: String = NSHomeDirectory()
        ) {
            self.claim.value = claim
            let folder = home.hasSuffix("/") ? home : home + "/"
            // Standardize the path, because decoding rejects paths that contain `..`.
            let path = file.standardizedFileURL.path
            let storedPath = path.hasPrefix(folder) ? "~/" + path.dropFirst(folder.count) : path
            content = Content(manifest: manifest, path: storedPath, receivedLength: length)
        }

        /// Creates a token from stored data.
        ///
        /// - Throws: `DecodingError` if the data is invalid. A missing partial file isn't an error, because the
        ///   download then starts over.
        public init(data: Data) throws {
            self = try JSONDecoder().decode(ResumeToken.self, from: data)
        }

        /// Decodes a token.
        ///
        /// - Throws: `DecodingError` if the token is invalid, or names a file that no download created.
        public init(from decoder: any Decoder) throws {
            content = try Content(from: decoder)
            let path = content.path
            // A stored token may have been manipulated, and the download writes to the file, so accept only partial
            // files.
            let isValid =
                (path.hasPrefix("/") || path.hasPrefix("~/")) && !path.utf8.contains(0)
                && !path.split(separator: "/").contains("..")
                && PartialFile.isValidName((path as NSString).lastPathComponent)
                && receivedLength >= 0 && manifest.total.map { $0 >= 0 } != false
            guard isValid else {
                let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no partial file")
                throw DecodingError.dataCorrupted(context)
            }
        }

        /// Encodes the token, and keeps the partial file from now on.
        ///
        /// - Throws: An error thrown by the encoder.
        public func encode(to encoder: any Encoder) throws {
            keepFile()
            try content.encode(to: encoder)
        }

        /// The encoded token, for storage; reading it keeps the partial file from now on.
        public var data: Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try? encoder.encode(self)) ?? Data()
        }

        /// Removes the partial file if you won't resume the download; does nothing if the file is missing or in use.
        public func discard() {
            PartialFile.resume(file())?.discard()
        }

        /// Keeps the partial file, even when the last token in memory is released.
        func keepFile() {
            claim.value?.release()
        }

        /// Returns the location of the partial file.
        func file(home: String = NSHomeDirectory()) -> URL {
            let path = content.path
            guard path.hasPrefix("~/") else { return URL(fileURLWithPath: path, isDirectory: false) }
            return URL(fileURLWithPath: home, isDirectory: true)
                .appendingPathComponent(String(path.dropFirst(2)), isDirectory: false)
        }
    }
}

/// The ownership of a partial file that no stored token refers to.
///
/// When the operation and its last token are released, the claim removes the file, unless a token was stored or used.
final class PartialFileClaim: Sendable {
    private let file: URL
    private let isReleased = Locked(false)

    init(_ file: URL) {
        self.file = file
    }

    deinit {
        if !isReleased.withLock({ $0 }) { PartialFile.resume(file)?.discard() }
    }

    /// Gives up ownership, leaving the file to whoever holds a token.
    func release() {
        isReleased.withLock { $0 = true }
    }
}

extension Download.ResumeToken: CustomStringConvertible, CustomReflectable {
    /// The received and total byte counts, and the name of the partial file, but nothing about its source.
    public var description: String {
        let received = receivedLength.counting("byte")
        let length = totalLength.map { "\(receivedLength) of \($0.counting("byte"))" } ?? received
        return "\(length) in \(file().lastPathComponent.shortened())"
    }

    /// A mirror that has only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// MARK: - Storage

/// Stores a token in a hidden file next to the destination, where the next process finds it, even after a crash.
extension Download.ResumeToken {
    /// Returns the stored token for a destination; `nil` if there is none, or its partial file is in another folder.
    static func stored(for destination: URL) -> Download.ResumeToken? {
        let storage = storage(for: destination)
        // Tokens are small, so a large file can't be a token.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: storage.path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int, size <= maximumTokenSize,
            let data = try? Data(contentsOf: storage), let token = try? Download.ResumeToken(data: data)
        else { return nil }
        return token.file().isBeside(destination) ? token : nil
    }

    /// Stores the token for a destination, replacing any previous token.
    ///
    /// - Throws: ``FileError``.
    func store(for destination: URL) throws(FileError) {
        let storage = Self.storage(for: destination)
        let file = try PartialFile.create(beside: destination)
        do throws(FileError) {
            try file.append(data)
            try file.move(to: storage, overwrite: true)
        } catch {
            file.discard()
            // Report the destination, because the caller doesn't know the token's hidden file.
            throw FileError(error.code, destination, error.reason)
        }
    }

    /// Removes the stored token for a destination, and its partial file, unless another download uses that file.
    ///
    /// A damaged token doesn't identify its partial file, so all partial files of the destination that no download uses
    /// are removed.
    static func discardStored(for destination: URL) {
        guard FileManager.default.fileExists(atPath: storage(for: destination).path) else { return }
        if let file = stored(for: destination)?.file() {
            let partial = PartialFile.resume(file)
            guard partial != nil || !FileManager.default.fileExists(atPath: file.path) else { return }
            partial?.discard()
        } else {
            PartialFile.discardAll(beside: destination)
        }
        removeStored(for: destination)
    }

    /// Removes the stored token for a destination, but not the partial file.
    static func removeStored(for destination: URL) {
        try? FileManager.default.removeItem(at: storage(for: destination))
    }

    /// Returns the hidden file of the token, whose name is derived from the destination, and is always valid.
    private static func storage(for destination: URL) -> URL {
        let name = destination.lastPathComponent
        let stem = name.utf8.count <= 200 ? name : SHA256.digest(of: Data(name.utf8)).hexadecimal
        return destination.deletingLastPathComponent().appendingPathComponent(".\(stem).resume", isDirectory: false)
    }

    private static let maximumTokenSize = 1 << 16
}
