// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Download {
    /// The destination of a download.
    ///
    /// ```swift
    /// Download.Destination.file(movies.appendingPathComponent("summer.mov"))
    /// Download.Destination.directory(movies, overwrite: true)          // under the name that the server suggests
    /// Download.Destination { name, response in movies.appendingPathComponent("42-" + name) }
    /// ```
    ///
    /// The download writes to a hidden file in the same folder, and renames it to the destination in one step when the
    /// file is complete. An existing file is an error unless ``overwrite`` is set. The new file is readable only by its
    /// owner.
    ///
    /// A file name that the server suggests is sanitized first: the result is a single path component, isn't hidden,
    /// and can't lead to another folder.
    public struct Destination: Sendable {
        /// A closure that returns the location of the file, given a sanitized name and the head of the response.
        public typealias Choice = @Sendable (_ suggestedName: String, _ response: HTTPResponseHead) throws -> URL

        /// Whether an existing file is replaced; false by default.
        public var overwrite: Bool
        /// Whether missing folders are created; true by default.
        public var createsIntermediateDirectories: Bool
        /// The destination file, if it doesn't depend on the response.
        let fixedFile: URL?
        private let choose: Choice

        private init(_ overwrite: Bool, _ createsFolders: Bool, _ fixedFile: URL? = nil, _ choose: @escaping Choice) {
            (self.overwrite, createsIntermediateDirectories) = (overwrite, createsFolders)
            (self.fixedFile, self.choose) = (fixedFile, choose)
        }

        /// Creates a destination that a closure chooses once the head of the response has arrived.
        ///
        /// - Parameters:
        ///   - overwrite: Whether an existing file is replaced.
        ///   - createsIntermediateDirectories: Whether missing folders are created.
        ///   - choose: Returns the URL of a file, given a sanitized name and the head of the response. An error that it
        ///     throws fails the download.
        public init(overwrite: Bool = false, createsIntermediateDirectories: Bool = true, _ choose: @escaping Choice) {
            self.init(overwrite, createsIntermediateDirectories, nil, choose)
        }

        /// Returns a destination that is the file at a URL.
        public static func file(
            _ url: URL,
            overwrite: Bool = false,
            createsIntermediateDirectories: Bool = true
        ) -> Destination {
            Destination(overwrite, createsIntermediateDirectories, url) { _, _ in url }
        }

        /// Returns a destination in a folder, under the sanitized name that the server suggests.
        public static func directory(
            _ url: URL,
            overwrite: Bool = false,
            createsIntermediateDirectories: Bool = true
        ) -> Destination {
            Destination(overwrite, createsIntermediateDirectories) { suggestedName, _ in
                url.appendingPathComponent(suggestedName, isDirectory: false)
            }
        }

        /// A new file in the temporary folder, with a unique name that keeps the suggested extension.
        ///
        /// The caller must remove the file.
        public static let temporary = Destination { suggestedName, _ in
            let folder = FileManager.default.temporaryDirectory
            let file = folder.appendingPathComponent(UUID().uuidString, isDirectory: false)
            let pathExtension = (suggestedName as NSString).pathExtension
            return pathExtension.isEmpty ? file : file.appendingPathExtension(pathExtension)
        }

        /// Returns the destination file for a response.
        ///
        /// - Parameters:
        ///   - suggestedName: A sanitized name.
        ///   - response: The head of the response.
        /// - Returns: The URL of a file.
        /// - Throws: Any error that the closure throws, and ``FileError`` if its result isn't a file URL. An existing
        ///   file isn't an error here; ``check(_:)`` reports it.
        func file(suggestedName: String, response: HTTPResponseHead) throws -> URL {
            let file = try choose(suggestedName, response)
            guard file.isFileURL, !file.hasDirectoryPath else {
                throw FileError(.cannotWriteFile, file, "not a file URL")
            }
            return file
        }

        /// Checks that the destination is free before the content is fetched; the final move checks it again.
        ///
        /// - Throws: ``FileError``.
        func check(_ file: URL) throws(FileError) {
            guard isFree(file) else { throw FileError(file, errno: EEXIST) }
        }

        /// Returns whether a file can be created or replaced at a location.
        func isFree(_ file: URL) -> Bool {
            // Check the link itself, because even a dangling symbolic link occupies the destination.
            overwrite || (try? FileManager.default.attributesOfItem(atPath: file.path)) == nil
        }
    }
}
