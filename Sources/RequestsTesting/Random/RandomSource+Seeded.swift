// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension RandomSource {
    /// The numbers of a ``SeededRandom``, for all who draw from this source together.
    ///
    /// Who of them gets which number depends on who comes first: where the numbers of one request are to be known,
    /// nobody else draws meanwhile.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        RandomSource(SeededRandom(seed))
    }
}
