// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a piece of work cost: wall time, processor time of this process, and memory that it holds.
struct Usage: Codable, Sendable {
    var seconds = 0.0
    var cpuSeconds = 0.0
    var bytes = 0
    /// How many pieces of work that was.
    var count = 1

    var secondsEach: Double { seconds / Double(count) }
    var cpuSecondsEach: Double { cpuSeconds / Double(count) }

    static func measure(count: Int = 1, _ work: () throws -> Void) rethrows -> Usage {
        let cpu = processorTime()
        let start = ContinuousClock.now
        try work()
        let elapsed = ContinuousClock.now - start
        return Usage(seconds: elapsed / .seconds(1), cpuSeconds: processorTime() - cpu, count: count)
    }

    /// User and system time of the process, in seconds.
    static func processorTime() -> Double {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The bytes of memory that the process holds; 0 where the system doesn't tell.
    static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4096
    }
}
