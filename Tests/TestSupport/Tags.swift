// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Testing

extension Tag {
    /// Runs while no other test does, since it measures something of the whole process.
    @Tag public static var alone: Self
    /// Holds whatever the library is made of inside: what a user sees, through the public API.
    @Tag public static var behaviour: Self
    /// Runs under the thread sanitizer as well.
    @Tag public static var race: Self
    /// Runs at a small scale here and at the whole one in `Scripts/soak`.
    @Tag public static var soak: Self
}
