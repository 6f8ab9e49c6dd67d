// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A seeded random number generator for jitter, identifiers and test input, which returns the same numbers in every
/// run.
///
/// Pass it to a client to make its delays predictable. Or generate test input with it, so that you can repeat a failing
/// test with the same seed:
///
/// ```swift
/// let client = HTTPClient(baseURL: url) { $0.random = .seeded(7) }
///
/// var random = SeededRandom(7)
/// let size = Int.random(in: 0...300, using: &random)
/// ```
///
/// A seed yields the same numbers on every platform and in every version, because the algorithm is fixed (SplitMix64).
/// The numbers suit tests, but not secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// Creates a generator; equal seeds yield equal numbers.
    public init(_ seed: UInt64) {
        state = seed
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

// MARK: - Seeded

extension RandomSource {
    /// Creates a random source that draws from one ``SeededRandom``, which all users of the source share.
    ///
    /// The first user gets the first number. To predict the numbers of one request, make sure that nothing else uses
    /// the source at the same time.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        RandomSource(SeededRandom(seed))
    }
}
