// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value behind a mutex: the only lock in the library.
///
/// Everything that several threads share is one struct in one `Locked`. What runs inside ``withLock(_:)`` is the
/// transition of that struct and nothing else: no user code, no key-value notification, no input or output. Locks are
/// therefore never nested, and a deadlock needs two.
///
/// Inlinable, so that other modules of the package call `withLock` specialized.
///
/// The spelling is that of SE-0433's `Mutex`, which asks for newer systems than this library does. The value and the
/// primitive share one allocation, whose address never changes, as the primitive demands.
// Sendable: the value is reachable only inside `withLock`, by one thread at a time; `sending` keeps it from leaking
// out.
package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline let storage: ManagedBuffer<Value, LockPrimitive>

    /// Puts a value behind a new lock.
    @inlinable
    package init(_ value: sending Value) {
        storage = LockStorage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { $0.makeLock() }
            return value
        }
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// - Throws: Any error that `body` throws.
    @inlinable
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (value, primitive) = storage.withUnsafeMutablePointers { ($0, $1) }
        primitive.lock()
        defer { unlock(primitive) }
        return try body(&value.pointee)
    }

    // Keeps the storage alive until the lock is free again: the pointers alone don't.
    @inlinable
    @inline(never)
    func unlock(_ primitive: UnsafeMutablePointer<LockPrimitive>) {
        withExtendedLifetime(storage) { primitive.unlock() }
    }
}

extension Locked: CustomReflectable {
    /// A mirror of nothing: what is behind the lock can't be read without it, and may be a secret.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

@usableFromInline
final class LockStorage<Value>: ManagedBuffer<Value, LockPrimitive> {
    deinit {
        withUnsafeMutablePointerToElements { $0.destroyLock() }
    }
}

#if canImport(Darwin)
@usableFromInline typealias LockPrimitive = os_unfair_lock_s

extension UnsafeMutablePointer where Pointee == LockPrimitive {
    @inlinable
    func makeLock() { initialize(to: os_unfair_lock_s()) }
    func destroyLock() { deinitialize(count: 1) }
    @inlinable
    func lock() { os_unfair_lock_lock(self) }
    @inlinable
    func unlock() { os_unfair_lock_unlock(self) }
}
#else
@usableFromInline typealias LockPrimitive = pthread_mutex_t

extension UnsafeMutablePointer where Pointee == LockPrimitive {
    @inlinable
    func makeLock() {
        initialize(to: pthread_mutex_t())
        pthread_mutex_init(self, nil)
    }

    func destroyLock() {
        pthread_mutex_destroy(self)
        deinitialize(count: 1)
    }

    @inlinable
    func lock() { pthread_mutex_lock(self) }
    @inlinable
    func unlock() { pthread_mutex_unlock(self) }
}
#endif
