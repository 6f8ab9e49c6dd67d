// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// That a transfer pauses, or that it goes on: one of several wishes, which have numbers.
///
/// The thread that has decided on a wish may be interrupted before it has told it, for as long as the system likes, while
/// others decide and tell. So the one with the highest number counts, and no thread waits for another.
struct PauseWish: Sendable, Hashable {
    private(set) var isPaused = false
    private(set) var number = 0

    /// The next wish, if it isn't what is wished already.
    mutating func change(to isPaused: Bool) -> PauseWish? {
        guard isPaused != self.isPaused else { return nil }
        self.isPaused = isPaused
        number += 1
        return self
    }

    /// Takes a wish that isn't older than the one that is known; says whether it was taken.
    mutating func update(to wish: PauseWish) -> Bool {
        guard wish.number > number else { return false }
        self = wish
        return true
    }
}
