// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that replays a file where there is one, and else records what is to become that file.
///
/// The test is run once against the real server, and from then on without a network:
///
/// ```swift
/// let archive = try ArchiveTransport(file)
/// let client = HTTPClient(baseURL: url, transport: archive)
/// // … run what is tested
/// try archive.save()
/// ```
///
/// To record anew, delete the file, or ask for ``Mode/record``. Where the network must never be used, as on a build
/// server, ask for ``Mode/replay``: a file that isn't there is an error then. Safe from any thread.
public final class ArchiveTransport: HTTPTransport {
    /// Whether requests go over the network.
    public enum Mode: Sendable, Hashable {
        /// They do where there is no file.
        case automatic
        /// They do, and the file is written anew.
        case record
        /// They never do.
        case replay
    }

    private enum Role: Sendable {
        case recording(ExchangeRecorder)
        case replaying(HTTPStubber)
    }

    private let file: URL
    private let role: Role

    /// Makes a transport, which reads the file at once where it is to replay.
    ///
    /// - Parameters:
    ///   - file: Where the archive is, or will be.
    ///   - mode: Whether requests go over the network; by default where there is no file.
    ///   - network: What sends them then; by default the best that the platform has.
    ///   - matchingBodies: Whether the content of a request has to be the recorded one too; false by default.
    ///   - ignored: What of an address may be another one when it is replayed; nothing by default.
    /// - Throws: ``ArchiveError``, or what the reading of the file throws.
    public init(
        _ file: URL,
        mode: Mode = .automatic,
        network: any HTTPTransport = DefaultTransport.shared,
        matchingBodies: Bool = false,
        ignoring ignored: StubCondition.AddressParts = []
    ) throws {
        self.file = file
        let records = mode == .record || mode == .automatic && !FileManager.default.fileExists(atPath: file.path)
        role =
            records
            ? .recording(ExchangeRecorder(network))
            : .replaying(try HTTPStubber(replaying: file, matchingBodies: matchingBodies, ignoring: ignored))
    }

    /// Whether requests go over the network, and are recorded.
    public var isRecording: Bool {
        switch role {
        case .recording: true
        case .replaying: false
        }
    }

    /// Every request so far; of those that are recorded, the ones that are over.
    public var requests: [StubbedRequest] {
        switch role {
        case .recording(let recorder): recorder.exchanges.map(\.request)
        case .replaying(let stubber): stubber.requests
        }
    }

    /// Writes what was recorded, without secrets; where the file is replayed, nothing happens.
    ///
    /// Await the requests first: one that is still under way is written with a remark, and isn't answered by a replay,
    /// but fails with an ``ArchiveError`` that says why. Saving again, later, writes the whole.
    ///
    /// - Throws: What the writing throws.
    public func save() throws {
        guard case .recording(let recorder) = role else { return }
        try recorder.archive.write(to: file)
    }

    /// What the transport can do that sends or answers the requests.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request, or answers it from the file.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        transport.send(request, receive: receive)
    }

    private var transport: any HTTPTransport {
        switch role {
        case .recording(let recorder): recorder
        case .replaying(let stubber): stubber
        }
    }
}
