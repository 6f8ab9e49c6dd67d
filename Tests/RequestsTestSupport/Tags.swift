// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Testing

extension Tag {
    /// Runs while no other test does, since it measures the whole process.
    @Tag public static var alone: Self
}
