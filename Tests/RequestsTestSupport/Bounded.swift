// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
public import Testing

/// A trait that limits how many tests run at a time, and how long each of them takes.
///
/// Swift Testing starts every test at once. Two thousand tests that interleave on two threads wait for each other, and
/// every timeout, in a test as in the library, includes that wait. So a test waits here for one of a few places, about
/// two a core, and its time limit begins with its body. (`.timeLimit` would include the wait.)
///
/// The body runs on the threads of ``ThreadExecutor``: a blocking test takes no thread of the cooperative pool, which
/// the library may need to end the wait.
///
/// Every suite uses it. A test with the tag `alone` takes all places: it measures a property of the whole process, such
/// as its memory or its descriptors.
public struct Bounded: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isInside = false
    private static let places = Places(2 * ProcessInfo.processInfo.activeProcessorCount)

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing body: @Sendable () async throws -> Void
    ) async throws {
        // A suite within a suite has the trait too, but its test already has a place.
        guard !Self.isInside else { return try await body() }
        try await Self.places.withPlace(alone: test.tags.contains(.alone)) {
            try await Self.$isInside.withValue(true) {
                try await withoutActuallyEscaping(body) { body in
                    try await TimeLimit(test: test, seconds: Scale.timeLimit).run(body)
                }
            }
        }
    }
}

extension Trait where Self == Bounded {
    /// Runs the tests a few at a time, each within the time limit of the scale.
    public static var bounded: Self { Bounded() }
}
