// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The values that interceptors store for one operation, across its attempts.
///
/// An interceptor serves many operations, and isn't notified when an operation ends. So an interceptor that stored the
/// values itself could never release them.
final class InterceptorNotes: Sendable {
    private let notes = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Returns the value that an interceptor has stored, if any.
    func note<Note: Sendable>(of author: ObjectIdentifier, as type: Note.Type = Note.self) -> Note? {
        notes.withLock { $0[author] } as? Note
    }

    /// Stores a value, replacing any previous one.
    ///
    /// Two threads never write for the same author, because the attempts of an operation don't overlap.
    func write(_ note: some Sendable, of author: ObjectIdentifier) {
        notes.withLock { $0[author] = note }
    }
}
