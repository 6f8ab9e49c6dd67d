// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Limits the bytes per second of all transfers together, which leaves bandwidth for other programs.
///
/// ```swift
/// let client = HTTPClient { $0.bandwidthLimiter = BandwidthLimiter(bytesPerSecond: 500_000) }
/// ```
///
/// It counts received bytes, decoded, and the bodies that are sent, both together. A transfer begins when the excess of
/// earlier transfers is made up for. During a transfer it is paused if the transport can pause
/// (``TransportCapabilities/pausing``); over other transports, only the next transfer waits. A transfer that waits to
/// begin isn't known to the transport yet, and closing the transport doesn't end it: cancel the operations first.
///
/// It is a bucket of bytes that fills at a steady rate. A received chunk is always taken from it, also if it holds
/// less: the transfer then pauses until that is made up for. So the rate is exact in the long run, however large the
/// chunks are; a short burst is faster.
///
/// It is shared by reference: all users of a limiter are limited together.
public final class BandwidthLimiter: Sendable {
    /// The bytes per second.
    public let bytesPerSecond: Int
    /// The clock of the pauses.
    let timing: LimiterClock
    private let bucket: Locked<TokenBucket>

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The bytes per second; from 1 to 10⁹, which is more than most lines carry.
    ///   - burst: The bytes that may be transferred at once after a rest; by default those of a quarter of a second.
    ///   - clock: The clock of the limit; `nil`, the default, is that of the environment that first uses it.
    public init(
        bytesPerSecond: Int,
        burst: Int? = nil,
        clock: (any Clock<Duration>)? = nil
    ) {
        let rate = min(max(1, bytesPerSecond), 1_000_000_000)
        self.bytesPerSecond = rate
        bucket = Locked(TokenBucket(rate, per: .seconds(1), burst: burst ?? rate / 4))
        timing = LimiterClock(clock)
    }

    /// Takes the bytes of a chunk.
    ///
    /// - Parameter bytes: The bytes that were received, or are about to be sent.
    /// - Returns: The pause of the transfer; `nil` if it continues. A pause that is too short is deferred: the bytes
    ///   are still owed at the next chunk.
    func take(_ bytes: Int) -> Duration? {
        guard bytes > 0 else { return nil }
        return pause(after: min(bytes, Self.largestChunk))
    }

    /// The rest of the pause of a paused transfer; `nil` if it continues.
    var owed: Duration? { pause(after: 0) }

    private func pause(after bytes: Int) -> Duration? {
        let time = timing.now()
        let pause = bucket.withLock { bucket in
            // Brings the bucket up to the present; its level is ignored, since it may be negative.
            _ = bucket.available(at: time)
            bucket.take(bytes)
            return bucket.nextToken(at: time) - time
        }
        return pause < Self.shortestPause ? nil : pause
    }

    private static let largestChunk = 1 << 40
    private static let shortestPause = Duration.milliseconds(5)
}

/// Waits until the bandwidth that other transfers have used is available again.
///
/// Without it, many small transfers would not be limited: each would end before its pause took effect.
struct BandwidthLink: Interceptor {
    let limiter: BandwidthLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: InterceptorChain
    ) async throws -> RawResponse {
        limiter.timing.adopt(clock)
        while let pause = limiter.owed { try await limiter.timing.clock.wait(pause) }
        return try await next(request)
    }
}
