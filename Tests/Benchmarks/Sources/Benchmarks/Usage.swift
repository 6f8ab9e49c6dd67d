// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import CCounting
import Foundation

/// The cost of a piece of work: wall time, processor time of this process, memory that it holds, and allocations.
struct Usage: Codable, Sendable {
    var seconds = 0.0
    var cpuSeconds = 0.0
    var bytes = 0
    /// The number of blocks that were allocated; negative without a counter.
    var allocations = -1
    /// The number of locks that the program took; negative without a counter.
    var locks = -1
    /// The number of pieces of work.
    var count = 1
    /// The longest time that another transfer waited meanwhile, and while nothing else was done; 0 without one.
    var longestWait = 0.0
    var longestQuietWait = 0.0

    var secondsEach: Double { seconds / Double(count) }
    var cpuSecondsEach: Double { cpuSeconds / Double(count) }
    var allocationsEach: Double { Double(allocations) / Double(count) }
    var locksEach: Double { Double(locks) / Double(count) }

    static func measure(count: Int = 1, _ work: () throws -> Void) rethrows -> Usage {
        let cpu = processorTime()
        let start = ContinuousClock.now
        try work()
        let elapsed = ContinuousClock.now - start
        return Usage(seconds: elapsed / .seconds(1), cpuSeconds: processorTime() - cpu, count: count)
    }

    /// Measures a program, which may print its own processor time in seconds; else that of its whole process counts.
    static func measureProgram(_ command: [String], count: Int) throws -> Usage {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        let before = processorTime(ofChildren: true)
        var printed: Double?
        var usage = try measure(count: count) {
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw URLError(.cannotLoadFromNetwork) }
            printed = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        usage.cpuSeconds = printed ?? processorTime(ofChildren: true) - before
        return usage
    }

    /// Measures the cost of one very short piece of work, by running as many as take a tenth of a second.
    ///
    /// Allocations are counted in a separate run, since counting takes time.
    static func measureOften(_ work: () throws -> Void) rethrows -> Usage {
        var count = 1
        while try measure({ for _ in 0..<count { try work() } }).seconds < 0.1, count < 1 << 24 { count *= 2 }
        var usage = try measure(count: count) { for _ in 0..<count { try work() } }
        let few = min(count, 64)
        let allocations = try allocations { for _ in 0..<few { try work() } }
        if allocations >= 0 { usage.allocations = allocations * count / few }
        return usage
    }

    /// Returns the number of allocations of the work; negative if they can't be counted.
    static func allocations(_ work: () throws -> Void) rethrows -> Int {
        ccounting_start_allocations()
        try work()
        return ccounting_stop_allocations()
    }

    /// Returns the number of mutex locks during the work; negative if they can't be counted.
    static func locks(_ work: () throws -> Void) rethrows -> Int {
        ccounting_start_locks()
        try work()
        return ccounting_stop_locks()
    }

    /// User and system time of the process, or of those that it has started and that have ended, in seconds.
    static func processorTime(ofChildren: Bool = false) -> Double {
        var usage = rusage()
        let processes = ofChildren ? RUSAGE_CHILDREN : RUSAGE_SELF
        #if canImport(Darwin)
        getrusage(processes, &usage)
        #else
        getrusage(__rusage_who_t(processes.rawValue), &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Returns the maximum memory that the process has held; 0 if the system doesn't report it.
    static func mostResidentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kilobytes * 1024
    }

    /// Returns the memory that the process holds, in bytes; 0 if the system doesn't report it.
    static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4096
    }
}
