// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// A thread that runs one closure.
///
/// Unlike this type, Foundation's `Thread` doesn't report when the system can't create another thread.
enum WorkerThread {
    /// Starts a thread; returns `false` if the system can't create another thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name, which the system truncates to 15 characters.
    ///   - run: The closure to run.
    /// - Returns: Whether the thread was started.
    static func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Box((name: name, run: run)))
        let isStarted = ccurl_thread_start(
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Box<(name: String, run: @Sendable () -> Void)>>.fromOpaque(context)
                    .takeRetainedValue().value
                ccurl_thread_set_name(String(work.name.prefix(15)))
                work.run()
                return nil
            },
            work.toOpaque()
        )
        if !isStarted { work.release() }
        return isStarted
    }
}
#endif
