// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that replays a file if it exists, and otherwise records requests for that file.
///
/// Run the test once against the real server; from then on, it needs no network:
///
/// ```swift
/// let archive = try ArchiveTransport(file)
/// let client = HTTPClient(baseURL: url, transport: archive)
/// // … run what is tested
/// try archive.save()
/// ```
///
/// To record again, delete the file, or choose ``Mode/record``. If the network must never be used, as on a build
/// server, choose ``Mode/replay``: a missing file is then an error. Safe from any thread.
public final class ArchiveTransport: HTTPTransport {
    /// The choice between the network and the file.
    public enum Mode: Sendable, Hashable {
        /// Requests go over the network if there is no file.
        case automatic
        /// Requests go over the network, and the file is replaced.
        case record
        /// Requests never go over the network.
        case replay
    }

    private let file: URL
    /// Records the requests that go over the network; `nil` when replaying.
    private let recorder: ExchangeRecorder?
    private let stubber = HTTPStubber()

    /// Makes a transport; to replay, it reads the file at once.
    ///
    /// - Parameters:
    ///   - file: The URL of the archive, which may not exist yet.
    ///   - mode: Whether requests go over the network; by default, only if there is no file.
    ///   - network: The transport that sends them then; by default the best one of the platform.
    ///   - matchingBodies: Whether the content of a request must match the recorded one too; `false` by default.
    ///   - ignored: The parts of an address that may differ from the recorded one; none by default.
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

    /// Whether requests go over the network, and are recorded.
    public var isRecording: Bool { recorder != nil }

    /// All requests so far; when recording, only those that have ended.
    public var requests: [ReceivedRequest] { recorder?.exchanges.map(\.request) ?? stubber.requests }

    /// Writes the recorded exchanges, without secrets; does nothing when replaying.
    ///
    /// Await the requests first: an exchange that hasn't ended isn't written.
    ///
    /// - Throws: The error of writing the file.
    public func save() throws {
        try recorder?.archive.write(to: file)
    }

    /// The capabilities of the transport that sends the requests or replays them.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request, or responds to it from the file.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        transport.send(request, receive: receive)
    }

    private var transport: any HTTPTransport { recorder ?? stubber }
}
