// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The descriptors of this process.
package enum Descriptors {
    /// The descriptors that are open, each with the file or socket behind it where the system says that: a number that
    /// was closed and is used again is another element.
    package static var open: Set<String> {
        _ = timerHasFired
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        return Set(
            names.compactMap { name in
                #if os(Linux)
                // The one of the folder itself is closed by now.
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                // Only the system opens timers: one for each of its clocks, which stays.
                return link.flatMap { $0.hasSuffix("[timerfd]") ? nil : "\(name) \($0)" }
                #else
                return name
                #endif
            }
        )
    }

    // For its first timer, the system also opens descriptors of other kinds, which stay.
    private static let timerHasFired: Void = {
        let fired = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { fired.signal() }
        fired.wait()
    }()

    /// Returns the descriptors that have been opened since, once there are at most `count` of them; or else those that
    /// are left after ten seconds, in which a thread that is about to end has closed its own.
    package static func left(since before: Set<String>, atMost count: Int = 0) async throws -> Set<String> {
        let end = ContinuousClock.now + .seconds(10)
        var left = open.subtracting(before)
        while left.count > count, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
            left = open.subtracting(before)
        }
        return left
    }
}
