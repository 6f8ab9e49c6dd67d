// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests

/// The system resources that this process holds.
enum Usage {
    /// The descriptors that are open.
    static var descriptors: Int { links.count }

    /// The descriptors that mainly transports have: polls, and their wake-ups.
    static var polls: Int {
        links.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: $0))?.hasPrefix("anon_inode") == true
        }
    }

    /// The threads of transports, found by name, of which the system keeps 15 characters.
    static var loops: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return names.count { name in
            let comm = try? String(contentsOfFile: "/proc/self/task/\(name)/comm", encoding: .utf8)
            return comm?.hasPrefix("Requests.CurlLo") == true
        }
    }

    /// The number of times that threads of transports have gone to sleep.
    static var switchesOfLoops: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return names.reduce(0) { sum, name in
            let text = (try? String(contentsOfFile: "/proc/self/task/\(name)/status", encoding: .utf8)) ?? ""
            guard text.hasPrefix("Name:\tRequests.CurlLo") else { return sum }
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }

    /// Whether freed memory is returned at once: a sanitizer keeps it for a while.
    static let isMemoryExact = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    /// The memory that is allocated and not freed, in bytes; for the comparison of two moments, to find a leak.
    ///
    /// Resident memory grows without a leak, too: the memory that other tests have freed is fragmented, and too small
    /// for this one. Each error that a test throws leaves some hundred bytes, since the test library remembers where it
    /// was thrown.
    static var allocatedMemory: Int {
        typealias Report = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let report = dlsym(nil, "malloc_info"), let file = open_memstream(&text, &size) else { return memory }
        _ = unsafeBitCast(report, to: Report.self)(0, file)
        fclose(file)
        defer { free(text) }
        let lines = text.map { String(cString: $0) }?.split(separator: "\n") ?? []
        // The last line of each kind is the sum of all arenas; the others are for one arena each.
        func bytes(_ kind: String) -> Int {
            let line = lines.last { $0.hasPrefix("<\(kind)") }
            return line?.firstMatch(of: /size="(\d+)"/).flatMap { Int($0.1) } ?? 0
        }
        return bytes(#"system type="current""#) + bytes(#"total type="mmap""#)
            - bytes(#"total type="fast""#) - bytes(#"total type="rest""#)
    }

    /// The resident memory after free memory was returned, in bytes.
    private static var settledMemory: Int {
        typealias Trim = @convention(c) (Int) -> Int32
        if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
        return memory
    }

    /// The resident memory, in bytes.
    static var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }

    /// The most resident memory since its last reset, in bytes.
    private static var peakMemory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return (text.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0) << 10
    }

    /// Resets the peak of resident memory to what it is now.
    ///
    /// - Returns: Whether the system can do that.
    private static func resetPeakMemory() -> Bool {
        (try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)) != nil
    }

    /// Whether the work never takes more memory than the limit, each of the two times that it is run: a leak of every
    /// other time is seen too.
    ///
    /// Where the system can't reset the peak of memory, only the end of the work is measured; under a sanitizer, nothing.
    /// A test that uses it has the tag `alone`, since other tests take memory too.
    ///
    /// - Parameters:
    ///   - limit: The maximum growth of resident memory, in bytes.
    ///   - work: The work.
    static func isBelow(_ limit: Int, _ work: () async throws -> Void) async rethrows -> Bool {
        for _ in 0..<2 {
            // Otherwise the free memory of one attempt would be available to the next.
            let (before, isPeakNew) = (settledMemory, resetPeakMemory())
            try await work()
            if isMemoryExact, (isPeakNew ? peakMemory : memory) - before >= limit { return false }
        }
        return true
    }

    private static var links: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.map { "/proc/self/fd/\($0)" }
    }
}
#endif
