// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A source of random numbers: the system's, or a generator of a test.
///
/// Safe from any thread.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let generate: @Sendable () -> UInt64

    /// Makes a source of a closure, which is called from any thread.
    public init(_ generate: @escaping @Sendable () -> UInt64) {
        self.generate = generate
    }

    /// Makes a source of a generator, such as one with a seed: the same numbers in every run.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        let generator = Locked(generator)
        generate = { generator.withLock { $0.next() } }
    }

    /// The source of the system, which is unpredictable.
    public static let system = RandomSource { UInt64.random(in: .min ... .max) }

    /// The next number.
    public func next() -> UInt64 { generate() }

    /// A number from 0 up to but not including 1, made of one random number, so that a test may use a constant
    /// generator.
    func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
