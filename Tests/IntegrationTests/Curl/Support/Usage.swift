// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc

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

    private static var links: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.map { "/proc/self/fd/\($0)" }
    }
}
#endif
