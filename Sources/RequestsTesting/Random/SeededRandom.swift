// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Chance that comes the same in every run: what jitter, identifiers and the input of a test are made of.
///
/// Hand it to a client, and its waits are known beforehand; or draw from it, and a test that fails can be run again with
/// the same seed:
///
/// ```swift
/// let client = HTTPClient(baseURL: url) { $0.random = .seeded(7) }
///
/// var random = SeededRandom(7)
/// let size = Int.random(in: 0...300, using: &random)
/// ```
///
/// The numbers of a seed are the same on every platform and in every version: they are those of SplitMix64. They suit
/// tests, and nothing that has to be secret.
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
    /// The numbers of a ``SeededRandom``, for all who draw from this source together.
    ///
    /// Who of them gets which number depends on who comes first: where the numbers of one request are to be known,
    /// nobody else draws meanwhile.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        RandomSource(SeededRandom(seed))
    }
}
