// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The values that interceptors store for one operation, from one of its attempts to the next.
///
/// An interceptor serves many operations, and isn't notified of their end; values in the interceptor itself would never
/// be released.
final class InterceptorNotes: Sendable {
    private let notes = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// The value that an interceptor has stored, if any.
    func note<Note: Sendable>(of author: ObjectIdentifier, as type: Note.Type = Note.self) -> Note? {
        notes.withLock { $0[author] } as? Note
    }

    /// Stores a value, which replaces a former one.
    ///
    /// No two threads write for one author: the attempts of an operation come one after the other.
    func write(_ note: some Sendable, of author: ObjectIdentifier) {
        notes.withLock { $0[author] = note }
    }
}
