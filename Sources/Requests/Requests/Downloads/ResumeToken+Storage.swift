// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
