// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose content goes straight to a file, at constant memory, however large it is.
///
/// ```swift
/// struct Film: DownloadRequest {
///     typealias Success = URL
///     var destination: DownloadDestination { .directory(movies) }
///     …
/// }
/// let file = try await queue.fetch(Film())
/// ```
///
/// The bytes are written to a hidden file beside the destination, which gets its name in one step when it is whole. A
/// retry goes on where the transfer broke, if the server gives ranges and says that the file is still the same; so does
/// a later request with a ``resumeToken``, also in another process.
public protocol DownloadRequest: NetworkRequest {
    /// ``DownloadOperation``, unless the request brings a subclass.
    associatedtype OperationType = DownloadOperation<Self>

    /// Where the file goes; ``DownloadDestination/temporary`` by default.
    var destination: DownloadDestination { get }

    /// What an earlier download left, to go on with; nil, the default, starts from the beginning.
    var resumeToken: ResumeToken? { get }

    /// Whether what a failure, a cancel, or the end of the process interrupts is gone on with by the next download to
    /// the same file, without a token; false by default.
    ///
    /// The partial file is left beside the destination then, which has to be a ``DownloadDestination`` of the kind
    /// `file`.
    var resumesAutomatically: Bool { get }

    /// The SHA-256 digest that the file must have, as 64 hexadecimal digits; nil, the default, for any.
    var expectedSHA256: String? { get }

    /// Makes the value of the file, which is at its destination.
    ///
    /// Called once, on a thread where it may take its time.
    ///
    /// - Throws: The failure of the request; the file stays.
    func process(_ file: DownloadedFile) throws -> Success
}

extension DownloadRequest {
    /// A temporary file.
    public var destination: DownloadDestination { .temporary }
    /// Nothing.
    public var resumeToken: ResumeToken? { nil }
    /// False.
    public var resumesAutomatically: Bool { false }
    /// Any digest.
    public var expectedSHA256: String? { nil }
}

extension DownloadRequest where Success == URL {
    /// Where the file is.
    public func process(_ file: DownloadedFile) throws -> URL { file.url }
}

extension DownloadRequest where Success == DownloadedFile {
    /// The file.
    public func process(_ file: DownloadedFile) throws -> DownloadedFile { file }
}
