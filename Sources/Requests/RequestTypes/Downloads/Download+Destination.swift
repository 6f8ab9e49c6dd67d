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
    /// The bytes are written to a hidden file beside the destination, which is moved there in one step when it is
    /// complete. An existing file is an error unless ``overwrite`` is set. Only the user can read the new one.
    ///
    /// A name that a server suggests is made safe first: it is one component, isn't hidden, and can't lead to another
    /// folder.
    public struct Destination: Sendable {
        /// Chooses the location of the file, from a safe name and the head of the response.
        public typealias Choice = @Sendable (_ suggestedName: String, _ response: HTTPResponseHead) throws -> URL

        /// Whether an existing file is replaced; false by default.
        public var overwrite: Bool
        /// Whether missing folders are created; true by default.
        public var createsIntermediateDirectories: Bool
        /// The file, if it is known before there is a response.
        let fixedFile: URL?
        private let choose: Choice

        private init(_ overwrite: Bool, _ createsFolders: Bool, _ fixedFile: URL? = nil, _ choose: @escaping Choice) {
            (self.overwrite, createsIntermediateDirectories) = (overwrite, createsFolders)
            (self.fixedFile, self.choose) = (fixedFile, choose)
        }

        /// Makes a destination that a closure chooses, when the head of the response was received.
        ///
        /// - Parameters:
        ///   - overwrite: Whether an existing file is replaced.
        ///   - createsIntermediateDirectories: Whether missing folders are created.
        ///   - choose: Gets a safe name, and returns the URL of a file; an error that it throws fails the download.
        public init(overwrite: Bool = false, createsIntermediateDirectories: Bool = true, _ choose: @escaping Choice) {
            self.init(overwrite, createsIntermediateDirectories, nil, choose)
        }

        /// Returns a destination that is this file.
        public static func file(
            _ url: URL,
            overwrite: Bool = false,
            createsIntermediateDirectories: Bool = true
        ) -> Destination {
            Destination(overwrite, createsIntermediateDirectories, url) { _, _ in url }
        }

        /// Returns a destination in this folder, with the name that the server suggests, made safe.
        public static func directory(
            _ url: URL,
            overwrite: Bool = false,
            createsIntermediateDirectories: Bool = true
        ) -> Destination {
            Destination(overwrite, createsIntermediateDirectories) { suggestedName, _ in
                url.appendingPathComponent(suggestedName, isDirectory: false)
            }
        }

        /// A new file in the folder for temporary files, with a unique name that keeps the extension.
        ///
        /// The caller has to remove it.
        public static let temporary = Destination { suggestedName, _ in
            let folder = FileManager.default.temporaryDirectory
            let file = folder.appendingPathComponent(UUID().uuidString, isDirectory: false)
            let pathExtension = (suggestedName as NSString).pathExtension
            return pathExtension.isEmpty ? file : file.appendingPathExtension(pathExtension)
        }

        /// Returns the file for a response.
        ///
        /// - Parameters:
        ///   - suggestedName: A safe name.
        ///   - response: The head of the response.
        /// - Returns: The URL of a file.
        /// - Throws: Any error that the closure throws, and ``FileError`` if its result isn't the URL of a file. An
        ///   existing file isn't an error here: see ``check(_:)``.
        func file(suggestedName: String, response: HTTPResponseHead) throws -> URL {
            let file = try choose(suggestedName, response)
            guard file.isFileURL, !file.hasDirectoryPath else {
                throw FileError(.cannotWriteFile, file, "it isn't the URL of a file")
            }
            return file
        }

        /// Checks early, before the content is fetched, that no file is in the way; the move at the end checks it too.
        ///
        /// - Throws: ``FileError``.
        func check(_ file: URL) throws(FileError) {
            guard isFree(file) else { throw FileError(file, errno: EEXIST) }
        }

        /// Whether there is no file in the way.
        func isFree(_ file: URL) -> Bool {
            // Checks a link itself: even if its target is missing, it is in the way.
            overwrite || (try? FileManager.default.attributesOfItem(atPath: file.path)) == nil
        }
    }
}
