// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Passes on the events of a transport, and reports the end of the transfer when it is released.
///
/// Otherwise a transport that forgets a transfer would leave an operation that never finishes.
final class EventSink: Sendable {
    private let transmission: Transmission
    private let throttle: BandwidthThrottle?
    private let isConcurrent: Bool

    init(_ transmission: Transmission, throttle: BandwidthThrottle?, isConcurrent: Bool) {
        self.transmission = transmission
        self.throttle = throttle
        self.isConcurrent = isConcurrent
    }

    deinit {
        guard !transmission.flow.isOver else { return }
        let reason = "the transport released the transfer without reporting its end"
        report(.end(RequestError(.connectionLost, phase: .sending, reason: reason)))
    }

    func report(_ event: TransferEvent) {
        // The end is handled once, whatever the transport does.
        if case .end = event, !transmission.flow.detach() { return }
        throttle?.note(event)
        transmission.receive(event, isConcurrent: isConcurrent)
    }
}

/// The content of a followed redirect: a small part is read, so that the connection can be reused.
///
/// If there is more, or it takes longer, the transfer is cancelled: closing a connection costs less than the rest. Its
/// result doesn't keep the redirect from being followed.
struct PassedContent: Sendable {
    /// The largest number of bytes that are read.
    static let limit = 4 * 1024
    /// The longest time to read.
    static let patience = Duration.milliseconds(200)

    /// Drops the rest when the time has passed; `nil` if nothing is read.
    let timer: DelayedAction?

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - clock: The clock; `nil` if nothing is read.
    ///   - cut: Drops the rest.
    init(on clock: (any Clock<Duration>)?, cut: @escaping @Sendable () -> Void) {
        timer = clock.map { DelayedAction(after: Self.patience, on: $0, cut) }
    }

    /// Whether a head announces more than is read.
    static func isLarge(_ head: HTTPResponseHead) -> Bool {
        head.headers.exactLength.map { $0 > Int64(limit) } ?? false
    }
}
