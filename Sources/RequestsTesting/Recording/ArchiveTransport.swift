// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that replays an archive if the file exists, and otherwise records one.
///
/// Run the test once against the real server. From then on, it doesn't need a network:
///
/// ```swift
/// let archive = try ArchiveTransport(file)
/// let client = HTTPClient(baseURL: url, transport: archive)
/// // … run the code under test
/// try archive.save()
/// ```
///
/// To record again, delete the file, or choose ``Mode/record``. If the network must never be used, such as on a build
/// server, choose ``Mode/replay``: a missing file is then an error. The transport is thread-safe.
public final class ArchiveTransport: HTTPTransport {
    /// When a transport records, and when it replays.
    public enum Mode: Sendable, Hashable {
        /// Sends requests over the network and records them if the file doesn't exist, and otherwise replays the file.
        case automatic
        /// Sends requests over the network, records them, and replaces the file.
        case record
        /// Replays the file, and never uses the network.
        case replay
    }

    private let file: URL
    /// The recorder of requests over the network; `nil` when replaying.
    private let recorder: ExchangeRecorder?
    private let stubber = HTTPStubber()

    /// Creates a transport, and reads the file immediately if there is a file to replay.
    ///
    /// - Parameters:
    ///   - file: The URL of the archive, which may not exist yet.
    ///   - mode: Whether to record or to replay; by default, the transport records only if there is no file.
    ///   - network: The transport that sends recorded requests; by default, the best transport of the platform.
    ///   - matchingBodies: Whether the content of a request must match the recorded content too; `false` by default.
    ///   - ignored: The components of the URL that may differ from the recorded URL; none by default.
    /// - Throws: ``HTTPArchive/Error``, or the error of reading the file.
    public init(
        _ file: URL,
        mode: Mode = .automatic,
        network: any HTTPTransport = HTTPClient.defaultTransport,
        matchingBodies: Bool = false,
        ignoring ignored: Set<StubCondition.AddressPart> = []
    ) throws {
        self.file = file
        let records = mode == .record || mode == .automatic && !FileManager.default.fileExists(atPath: file.path)
        recorder = records ? ExchangeRecorder(network) : nil
        guard !records else { return }
        stubber.replay(try HTTPArchive(contentsOf: file), matchingBodies: matchingBodies, ignoring: ignored)
    }

    /// Whether requests are sent over the network and recorded.
    public var isRecording: Bool { recorder != nil }

    /// All requests so far; when recording, only those that have completed.
    public var requests: [ReceivedRequest] { recorder?.exchanges.map(\.request) ?? stubber.requests }

    /// Writes the recorded exchanges, without values whose names mark them as secrets; does nothing when replaying.
    ///
    /// Await the requests first, because an exchange that hasn't completed isn't written.
    ///
    /// - Throws: The error of writing the file.
    public func save() throws {
        try recorder?.archive.write(to: file)
    }

    /// The capabilities of the transport that records or replays.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends and records the request, or responds to it from the file.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        transport.send(request, receive: receive)
    }

    private var transport: any HTTPTransport { recorder ?? stubber }
}
