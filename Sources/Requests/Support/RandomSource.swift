// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A source of random numbers: either the system's or, for tests, a predictable source.
///
/// A random source can be used from any thread.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let generate: @Sendable () -> UInt64

    /// Creates a source from a closure, which may be called on any thread.
    public init(_ generate: @escaping @Sendable () -> UInt64) {
        self.generate = generate
    }

    /// Creates a source from a generator, such as a seeded generator, which gives the same numbers in each run.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        let generator = Locked(generator)
        generate = { generator.withLock { $0.next() } }
    }

    /// The random source of the system, which is unpredictable.
    public static let system = RandomSource { UInt64.random(in: .min ... .max) }

    /// Returns the next random number.
    public func next() -> UInt64 { generate() }

    /// Returns a random number from 0 up to, but not including, 1.
    ///
    /// The number is computed from a single number of the source, so that a test can use a constant generator.
    func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
