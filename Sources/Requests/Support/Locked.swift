// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value protected by a mutex, which is the only kind of lock in the library.
///
/// All state that several threads share is one struct in one `Locked`. The body of ``withLock(_:)`` only changes this
/// struct. It never runs a caller's code, sends key-value notifications, or performs I/O. Locks are therefore never
/// nested, and can't deadlock.
///
/// The members are inlinable for the other modules of the package. A compiler that doesn't serialize `package`
/// functions, such as that of Swift 6.3, calls them unspecialized there, at the cost of an indirect call.
///
/// The API is that of `Mutex` (SE-0433), which requires newer OS versions than this library does. The value and the
/// lock primitive share one allocation, because the address of the primitive must never change.
// Sendable: only one thread at a time can access the value, inside `withLock`, and `sending` prevents the value from
// escaping.
package struct Locked<Value>: @unchecked Sendable {
    @usableFromInline let storage: ManagedBuffer<Value, LockPrimitive>

    /// Creates a lock that protects a value.
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

    // Keeps the storage alive until the lock is released, because the pointers don't retain the storage.
    @inlinable
    @inline(never)
    func unlock(_ primitive: UnsafeMutablePointer<LockPrimitive>) {
        withExtendedLifetime(storage) { primitive.unlock() }
    }
}

extension Locked: CustomReflectable {
    /// An empty mirror, because the value can't be read without the lock, and may be a secret.
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
