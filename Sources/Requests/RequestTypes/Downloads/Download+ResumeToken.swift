// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Download {
    /// A token that resumes an interrupted download, later or in another process.
    ///
    /// ```swift
    /// defaults.set(token.data, forKey: "film")
    /// let token = try Download.ResumeToken(data: data)
    /// ```
    ///
    /// It contains the location of the partial file and the representation that it belongs to. The request, with its
    /// credentials, isn't in it, and of its address there is only a digest, so a token may be stored where secrets may
    /// not. The address may differ when the download is resumed, since signed addresses expire. The server then has to
    /// confirm that the file is the same, or the download starts over.
    ///
    /// The partial file is there as long as its operation or a token in memory. To have it stay longer, store the
    /// token, or begin a download with it: from then on the file is yours, and ``discard()`` removes it if it isn't
    /// needed.
    public struct ResumeToken: Sendable, Hashable, Codable {
        /// The stored part, by which tokens are compared.
        private struct Content: Sendable, Hashable, Codable {
            let manifest: DownloadManifest
            /// The location of the partial file; in the user's home with `~`, since on some systems an app's home
            /// changes.
            let path: String
            let receivedLength: Int64
        }

        private let content: Content
        private var claim = IgnoredInEquality<PartialFileClaim?>(value: nil)

        var manifest: DownloadManifest { content.manifest }
        /// The byte count of the partial file when the token was made.
        public var receivedLength: Int64 { content.receivedLength }
        /// The byte count of the whole; `nil` if the server doesn't send it.
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
            // In the form in which it is read again: without `..`, which reading refuses.
            let path = file.standardizedFileURL.path
            let place = path.hasPrefix(folder) ? "~/" + path.dropFirst(folder.count) : path
            content = Content(manifest: manifest, path: place, receivedLength: length)
        }

        /// Reads a stored token.
        ///
        /// - Throws: `DecodingError` if the bytes are invalid. A missing partial file is not an error: the download
        ///   then starts over.
        public init(data: Data) throws {
            self = try JSONDecoder().decode(ResumeToken.self, from: data)
        }

        /// Reads a token.
        ///
        /// - Throws: `DecodingError` if it is invalid, or names a file that no download made.
        public init(from decoder: any Decoder) throws {
            content = try Content(from: decoder)
            let path = content.path
            // A stored token may have been manipulated: since the file is written to, it must not be an arbitrary one.
            let isSound =
                (path.hasPrefix("/") || path.hasPrefix("~/")) && !path.utf8.contains(0)
                && !path.split(separator: "/").contains("..")
                && PartialFile.isValidName((path as NSString).lastPathComponent)
                && receivedLength >= 0 && manifest.total.map { $0 >= 0 } != false
            guard isSound else {
                let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no partial file")
                throw DecodingError.dataCorrupted(context)
            }
        }

        /// Writes the token; from now on, the partial file stays.
        ///
        /// - Throws: An error of the encoder.
        public func encode(to encoder: any Encoder) throws {
            keepFile()
            try content.encode(to: encoder)
        }

        /// The token as bytes, for storage; from now on, the partial file stays.
        public var data: Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try? encoder.encode(self)) ?? Data()
        }

        /// Removes the partial file, if the download isn't to be resumed; does nothing if it is missing or in use.
        public func discard() {
            PartialFile.resume(file())?.discard()
        }

        /// Leaves the partial file to whoever resumes the download.
        func keepFile() {
            claim.value?.passOn()
        }

        /// The location of the partial file.
        func file(home: String = NSHomeDirectory()) -> URL {
            let path = content.path
            guard path.hasPrefix("~/") else { return URL(fileURLWithPath: path, isDirectory: false) }
            return URL(fileURLWithPath: home, isDirectory: true)
                .appendingPathComponent(String(path.dropFirst(2)), isDirectory: false)
        }
    }
}

/// The right to a partial file that only memory knows of: when the last token and the operation are gone, it removes
/// the file, unless a token was stored or used.
final class PartialFileClaim: Sendable {
    private let file: URL
    private let isPassedOn = Locked(false)

    init(_ file: URL) {
        self.file = file
    }

    deinit {
        if !isPassedOn.withLock({ $0 }) { PartialFile.resume(file)?.discard() }
    }

    /// Leaves the file to the holder of a token.
    func passOn() {
        isPassedOn.withLock { $0 = true }
    }
}

extension Download.ResumeToken: CustomStringConvertible, CustomReflectable {
    /// The byte counts of the part and the whole, and the name of the partial file; nothing of its source.
    public var description: String {
        let total = totalLength.map { " of \($0)" } ?? ""
        return "\(receivedLength)\(total) bytes in \(file().lastPathComponent.shortened())"
    }

    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// MARK: - Storage

/// A stored token beside the destination, where the next process finds it, also after a crash.
extension Download.ResumeToken {
    /// The stored token for a destination; `nil` if there is no token, or its partial file isn't beside the
    /// destination.
    static func stored(for destination: URL) -> Download.ResumeToken? {
        let storage = storage(for: destination)
        // A token is small: a large file isn't one.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: storage.path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int, size <= longestToken,
            let data = try? Data(contentsOf: storage), let token = try? Download.ResumeToken(data: data)
        else { return nil }
        return token.file().isBeside(destination) ? token : nil
    }

    /// Stores the token for a destination, and replaces a former one.
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
            // The token is hidden; the caller knows the destination.
            throw FileError(error.code, destination, error.reason)
        }
    }

    /// Removes the stored token for a destination, and its partial file, unless another download uses that.
    ///
    /// If the token is damaged, its partial file isn't known: then all that no download uses are removed.
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

    /// Removes the stored token for a destination; the partial file stays.
    static func removeStored(for destination: URL) {
        try? FileManager.default.removeItem(at: storage(for: destination))
    }

    /// A hidden file whose name is derived from that of the destination, and is always valid.
    private static func storage(for destination: URL) -> URL {
        let name = destination.lastPathComponent
        let stem = name.utf8.count <= 200 ? name : SHA256.digest(of: Data(name.utf8)).hexadecimal
        return destination.deletingLastPathComponent().appendingPathComponent(".\(stem).resume", isDirectory: false)
    }

    private static let longestToken = 1 << 16
}
