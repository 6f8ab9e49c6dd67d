// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport

extension Array {
    /// Returns some elements, spread evenly over the array, or all of them in a full run.
    ///
    /// Another number gives other elements, so that a table of n rows with k elements each has every element about
    /// n × k / count times.
    func sample(_ size: Int, number: Int) -> [Element] {
        guard !Scale.isWhole, size < count else { return self }
        return (0..<size).map { self[(number + $0 * count / size) % count] }
    }
}
