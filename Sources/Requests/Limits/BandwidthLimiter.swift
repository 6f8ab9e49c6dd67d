// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Lets only so many bytes through in a second, all transfers together: what leaves room for others on a line.
///
/// ```swift
/// let client = HTTPClient { $0.bandwidthLimiter = BandwidthLimiter(bytesPerSecond: 500_000) }
/// ```
///
/// It counts what is received, decoded, and the bodies that are sent, both together. A transfer begins when what others
/// have had too much is made good. In its midst it is held back where the transport can pause
/// (``TransportCapabilities/pausing``); over others, only the next one waits. What waits to begin isn't known to the
/// transport yet, whose closing doesn't end it: cancel the operations first.
///
/// It is a bucket of bytes that fills at a steady rate. A chunk that has come is taken from it in any case, also where
/// it holds less: the transfer then pauses until that is made good. So the rate is exact in the long run, however large
/// the chunks are; a short burst is faster.
///
/// It is shared by reference: all that are given the same limiter are limited together.
public final class BandwidthLimiter: Sendable {
    /// How many bytes go through in a second.
    public let bytesPerSecond: Int
    /// The clock of the pauses.
    let timing: LimiterClock
    private let bucket: Locked<TokenBucket>

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: How many bytes go through in a second; from 1 to 10⁹, which is more than most lines carry.
    ///   - burst: How many may go at once after a rest; by default what goes through in a quarter of a second.
    ///   - clock: The clock of the limit; nil, the default, is that of the environment that first uses it.
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
    /// - Parameter bytes: How many have come, or are about to go.
    /// - Returns: How long the transfer is to pause; nil where it goes on. A pause too short to be worth it is put off:
    ///   what it would make good is still owed at the next chunk.
    func take(_ bytes: Int) -> Duration? {
        guard bytes > 0 else { return nil }
        return pause(after: min(bytes, Self.largestChunk))
    }

    /// How long a transfer that pauses is to pause yet; nil where it goes on.
    var owed: Duration? { pause(after: 0) }

    private func pause(after bytes: Int) -> Duration? {
        let time = timing.now()
        let pause = bucket.withLock { bucket in
            // Brings the bucket up to the present; what it holds doesn't matter, since it may owe.
            _ = bucket.available(at: time)
            bucket.take(bytes)
            return bucket.nextToken(at: time) - time
        }
        return pause < Self.shortestPause ? nil : pause
    }

    private static let largestChunk = 1 << 40
    private static let shortestPause = Duration.milliseconds(5)
}

/// Waits until the bandwidth that other transfers have used up is there again.
///
/// Without it, many small transfers would know no limit: each would be over before its pause took effect.
struct BandwidthLink: Interceptor {
    let limiter: BandwidthLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        limiter.timing.adopt(clock)
        while let pause = limiter.owed { try await limiter.timing.clock.wait(pause) }
        return try await next(request)
    }
}
