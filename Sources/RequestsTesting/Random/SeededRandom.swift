// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A random number generator that repeats its numbers in every run: for jitter, identifiers and test input.
///
/// Pass it to a client, and its delays are known in advance. Or generate test input from it, and a failing test can be
/// run again with the same seed:
///
/// ```swift
/// let client = HTTPClient(baseURL: url) { $0.random = .seeded(7) }
///
/// var random = SeededRandom(7)
/// let size = Int.random(in: 0...300, using: &random)
/// ```
///
/// A seed gives the same numbers on every platform and in every version: those of SplitMix64. They suit tests, but
/// nothing that has to be secret.
public struct SeededRandom: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// Makes a generator; the same seed gives the same numbers.
    public init(_ seed: UInt64) {
        state = seed
    }

    /// The next number.
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
    /// The numbers of a ``SeededRandom``, shared by all users of this source.
    ///
    /// The first user gets the first number. To know the numbers of one request, make sure that nothing else uses the
    /// source meanwhile.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        RandomSource(SeededRandom(seed))
    }
}
