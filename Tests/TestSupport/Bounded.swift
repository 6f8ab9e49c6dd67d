// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
public import Testing

/// A trait that bounds how many tests run at a time, and how long each of them takes.
///
/// Swift Testing starts every test at once. Two thousand tests that interleave on two threads measure how long they wait
/// for each other: each timeout, in a test as in the library, counts that wait. So a test waits here for one of a few
/// places, about two a core, and its time limit begins with its body. (`.timeLimit` would count the wait.)
///
/// The body runs on the threads of ``ThreadExecutor``: a test that blocks takes no thread of the cooperative pool, which
/// the library may need in order to end the wait.
///
/// Every suite names it. A test with the tag `alone` has all places: it measures something that belongs to the whole
/// process, such as its memory or its descriptors.
public struct Bounded: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isInside = false
    private static let places = Places(2 * ProcessInfo.processInfo.activeProcessorCount)

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing body: @Sendable () async throws -> Void
    ) async throws {
        // A suite within a suite names the trait too; its test has its place already.
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
