// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Where a download goes.
///
/// ```swift
/// DownloadDestination.file(movies.appendingPathComponent("summer.mov"))
/// DownloadDestination.directory(movies, overwrite: true)          // under the name that the server suggests
/// DownloadDestination { name, response in movies.appendingPathComponent("42-" + name) }
/// ```
///
/// The bytes are written to a hidden file beside the destination, which is moved there in one step when it is whole. A
/// file that is there already is an error unless ``overwrite`` is set. Only the user can read the new one.
///
/// A name that a server suggests is made safe first: it is one component, hides nothing, and leads nowhere.
public struct DownloadDestination: Sendable {
    /// Where the file is to be, made of a safe name and the head of the response.
    public typealias Choice = @Sendable (_ suggestedName: String, _ response: HTTPResponseHead) throws -> URL

    /// Whether a file that is there is replaced; it isn't by default.
    public var overwrite: Bool
    /// Whether folders that aren't there are made; they are by default.
    public var createsIntermediateDirectories: Bool
    private let place: Place

    private enum Place: Sendable {
        case file(URL)
        case directory(URL)
        case temporary
        case choice(Choice)
    }

    private init(_ place: Place, overwrite: Bool, createsIntermediateDirectories: Bool) {
        self.place = place
        self.overwrite = overwrite
        self.createsIntermediateDirectories = createsIntermediateDirectories
    }

    /// Has a closure choose the place, when the head of the response is there.
    ///
    /// - Parameters:
    ///   - overwrite: Whether a file that is there is replaced.
    ///   - createsIntermediateDirectories: Whether folders that aren't there are made.
    ///   - choose: Gets a safe name, and gives the URL of a file; what it throws fails the download.
    public init(
        overwrite: Bool = false,
        createsIntermediateDirectories: Bool = true,
        _ choose: @escaping Choice
    ) {
        self.init(
            .choice(choose),
            overwrite: overwrite,
            createsIntermediateDirectories: createsIntermediateDirectories
        )
    }

    /// This very file.
    public static func file(
        _ url: URL,
        overwrite: Bool = false,
        createsIntermediateDirectories: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(
            .file(url),
            overwrite: overwrite,
            createsIntermediateDirectories: createsIntermediateDirectories
        )
    }

    /// In this folder, under the name that the server suggests, made safe.
    public static func directory(
        _ url: URL,
        overwrite: Bool = false,
        createsIntermediateDirectories: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(
            .directory(url),
            overwrite: overwrite,
            createsIntermediateDirectories: createsIntermediateDirectories
        )
    }

    /// A new file in the folder for temporary files, under a name of its own that keeps the extension.
    ///
    /// It is the caller's to remove.
    public static let temporary = DownloadDestination(
        .temporary,
        overwrite: false,
        createsIntermediateDirectories: true
    )

    /// The file that is meant, where it is known before there is a response.
    var fixedFile: URL? {
        guard case .file(let url) = place else { return nil }
        return url
    }

    /// The file that a response goes to.
    ///
    /// - Parameters:
    ///   - suggestedName: A safe name.
    ///   - response: The head of the response.
    /// - Returns: The URL of a file.
    /// - Throws: What the closure throws, and ``DownloadError`` where it gives no URL of a file. That a file is there is
    ///   not an error here: see ``check(_:)``.
    func file(suggestedName: String, response: HTTPResponseHead) throws -> URL {
        let file =
            switch place {
            case .file(let url): url
            case .directory(let url): url.appendingPathComponent(suggestedName, isDirectory: false)
            case .temporary: Self.temporaryFile(suggestedName)
            case .choice(let choose): try choose(suggestedName, response)
            }
        guard file.isFileURL, !file.hasDirectoryPath else {
            throw DownloadError(.cannotWriteFile, file, "it isn't the URL of a file")
        }
        return file
    }

    /// Says early that a file is in the way, before its replacement is fetched; the move at the end says it too.
    ///
    /// - Throws: ``DownloadError``.
    func check(_ file: URL) throws(DownloadError) {
        guard !overwrite else { return }
        // Of the link itself, where it is one: it may lead nowhere, and is in the way nonetheless.
        guard (try? FileManager.default.attributesOfItem(atPath: file.path)) == nil else {
            throw DownloadError(file, errno: EEXIST)
        }
    }

    private static func temporaryFile(_ suggestedName: String) -> URL {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent(UUID().uuidString, isDirectory: false)
        let pathExtension = (suggestedName as NSString).pathExtension
        return pathExtension.isEmpty ? file : file.appendingPathExtension(pathExtension)
    }
}
