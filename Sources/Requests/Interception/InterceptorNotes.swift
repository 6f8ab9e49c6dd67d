// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What interceptors remember about one operation, from one of its attempts to the next.
///
/// An interceptor serves many operations, and never learns that one has ended; what it kept of them itself would stay.
final class InterceptorNotes: Sendable {
    private let notes = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// What an interceptor has noted, if it has.
    func note<Note: Sendable>(of author: ObjectIdentifier, as type: Note.Type = Note.self) -> Note? {
        notes.withLock { $0[author] } as? Note
    }

    /// Notes something in the place of what was noted before.
    ///
    /// No two threads write for one author: the attempts of an operation come one after the other.
    func write(_ note: some Sendable, of author: ObjectIdentifier) {
        notes.withLock { $0[author] = note }
    }
}
