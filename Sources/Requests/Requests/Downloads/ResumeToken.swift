// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What an interrupted download can be gone on with, later or in another process.
///
/// ```swift
/// defaults.set(token.data, forKey: "film")
/// let token = try ResumeToken(data: data)
/// ```
///
/// It tells where the partial file is and what it is a part of. The request itself, with its credentials, isn't in it,
/// and of its address there is a digest: a token may be stored where secrets may not. Its address may be another when
/// the download goes on, since those that are signed expire; the server then has to say that the file is the same, or
/// the download starts over.
public struct ResumeToken: Sendable, Hashable, Codable {
    let manifest: DownloadManifest
    /// Where the partial file is; in the user's home with `~`, since some systems give an app another home each time.
    private let path: String
    /// How many bytes there were when the token was made.
    public let receivedLength: Int64

    /// How many bytes the whole has; nil where the server doesn't say.
    public var totalLength: Int64? { manifest.total }
    /// When the download began.
    public var created: Date { manifest.created }

    init(_ manifest: DownloadManifest, file: URL, length: Int64, home: String = NSHomeDirectory()) {
        self.manifest = manifest
        receivedLength = length
        let folder = home.hasSuffix("/") ? home : home + "/"
        // As it is read again: without `..`, which what is read mustn't have.
        let path = file.standardizedFileURL.path
        self.path = path.hasPrefix(folder) ? "~/" + path.dropFirst(folder.count) : path
    }

    /// Reads a token that was stored.
    ///
    /// - Throws: `DecodingError` where the bytes are none. That the partial file is gone is not an error: the download
    ///   starts over then.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(ResumeToken.self, from: data)
    }

    /// Reads a token.
    ///
    /// - Throws: `DecodingError` where it is none, or one that names a file that no download made.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        manifest = try container.decode(DownloadManifest.self, forKey: .manifest)
        path = try container.decode(String.self, forKey: .path)
        receivedLength = try container.decode(Int64.self, forKey: .receivedLength)
        // What was stored may be anybody's: the file is written to, so it must not be just any.
        let isSound =
            (path.hasPrefix("/") || path.hasPrefix("~/")) && !path.utf8.contains(0)
            && !path.split(separator: "/").contains("..") && PartialFile.isName((path as NSString).lastPathComponent)
            && receivedLength >= 0 && manifest.total.map { $0 >= 0 } != false
        guard isSound else {
            throw DecodingError.dataCorruptedError(forKey: .path, in: container, debugDescription: "no partial file")
        }
    }

    /// The token as bytes, to be stored.
    public var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Removes the partial file, where the download isn't to go on; nothing where it is gone, or is being gone on with.
    public func discard() {
        PartialFile.resume(file())?.discard()
    }

    /// Where the partial file is.
    func file(home: String = NSHomeDirectory()) -> URL {
        guard path.hasPrefix("~/") else { return URL(fileURLWithPath: path, isDirectory: false) }
        return URL(fileURLWithPath: home, isDirectory: true)
            .appendingPathComponent(String(path.dropFirst(2)), isDirectory: false)
    }
}

extension ResumeToken: CustomStringConvertible, CustomReflectable {
    /// How much is there, of how much, and the name of the partial file; nothing of where it came from.
    public var description: String {
        let total = totalLength.map { " of \($0)" } ?? ""
        return "\(receivedLength)\(total) bytes in \(file().lastPathComponent.shortened())"
    }

    /// A mirror of what the description says.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// MARK: - Storage

/// A token beside the file that is to be, where the next process finds it, also after one that died.
extension ResumeToken {
    /// The token that was stored for a destination; nil where there is none, or none for a file beside it.
    static func stored(for destination: URL) -> ResumeToken? {
        let storage = storage(for: destination)
        // A token is small: what is large is none.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: storage.path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int, size <= longestToken,
            let data = try? Data(contentsOf: storage), let token = try? ResumeToken(data: data)
        else { return nil }
        return token.file().isBeside(destination) ? token : nil
    }

    /// Stores the token for a destination, in the place of one that was there.
    ///
    /// - Throws: ``DownloadError``.
    func store(for destination: URL) throws(DownloadError) {
        let storage = Self.storage(for: destination)
        let file = try PartialFile.create(beside: storage)
        do throws(DownloadError) {
            try file.append(data)
            try file.move(to: storage, overwrite: true)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Removes the token that was stored for a destination; the partial file stays.
    static func removeStored(for destination: URL) {
        try? FileManager.default.removeItem(at: storage(for: destination))
    }

    /// A hidden file whose name follows from that of the destination, and fits whatever that is.
    private static func storage(for destination: URL) -> URL {
        let name = destination.lastPathComponent
        let stem = name.utf8.count <= 200 ? name : SHA256.digest(of: Data(name.utf8)).hexadecimal
        return destination.deletingLastPathComponent().appendingPathComponent(".\(stem).resume", isDirectory: false)
    }

    private static let longestToken = 1 << 16
}
