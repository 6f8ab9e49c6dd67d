// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests

/// What this process holds of the system.
enum Usage {
    /// The descriptors that are open.
    static var descriptors: Int { links.count }

    /// The descriptors that only a transport has many of: polls, and what wakes them.
    static var polls: Int {
        links.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: $0))?.hasPrefix("anon_inode") == true
        }
    }

    /// The threads of transports, found by their name, of which the system keeps 15 characters.
    static var loops: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return names.count { name in
            let comm = try? String(contentsOfFile: "/proc/self/task/\(name)/comm", encoding: .utf8)
            return comm?.hasPrefix("Requests.CurlLo") == true
        }
    }

    /// Whether what is freed is given back: a sanitizer keeps it for a while.
    static let isMemoryExact = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    /// The memory that is resident when what is free has been given back, in bytes; for what compares two moments.
    ///
    /// Without that, what many threads hold free for themselves looks like growth. Each error that is thrown under test
    /// leaves some hundred bytes behind nonetheless, since the test library remembers where it was thrown.
    static var settledMemory: Int {
        typealias Trim = @convention(c) (Int) -> Int32
        if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
        return memory
    }

    /// The memory that is resident, in bytes.
    static var memory: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }

    /// Whether what is done takes no more memory than that, at least once in a few times.
    ///
    /// Other tests run at the same time, and take what they need; hardly each time.
    ///
    /// - Parameters:
    ///   - limit: How many bytes more may be resident; nil for any number.
    ///   - work: What is done, given what it may call where much is there at once; its end counts too.
    static func isBelow(
        _ limit: Int?,
        _ work: (_ look: @escaping @Sendable () -> Void) async throws -> Void
    ) async rethrows -> Bool {
        for _ in 0..<5 {
            // Else what one attempt left free would be there for the next to fill.
            let (before, most) = (settledMemory, Locked(0))
            let look: @Sendable () -> Void = { most.withLock { $0 = max($0, memory) } }
            try await work(look)
            look()
            guard let limit, isMemoryExact, most.withLock({ $0 }) - before >= limit else { return true }
        }
        return false
    }

    private static var links: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.map { "/proc/self/fd/\($0)" }
    }
}
#endif
