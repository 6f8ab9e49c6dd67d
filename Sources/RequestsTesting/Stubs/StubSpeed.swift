// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How fast the content of a stubbed response comes.
///
/// What the presets stand for is the nominal rate of a kind of network, in thousands of bits a second:
///
/// | preset | kbit/s |
/// |---|---|
/// | ``oneKilobit`` | 1 |
/// | ``slow`` | 12 |
/// | ``gprs`` | 56 |
/// | ``edge`` | 128 |
/// | ``threeG`` | 3,200 |
/// | ``threeGPlus`` | 7,200 |
/// | ``wiFi`` | 12,000 |
public struct StubSpeed: Sendable, Hashable {
    /// The rate, in bytes a second; at least 1.
    public let bytesPerSecond: Int

    /// Makes a speed of a rate in bytes a second; less than 1 counts as 1.
    public init(bytesPerSecond: Int) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// Makes a speed of a rate in thousands of bits a second; less than 1 counts as 1.
    public init(kilobitsPerSecond: Int) {
        self.init(bytesPerSecond: max(1, min(kilobitsPerSecond, 1_000_000_000)) * 125)
    }

    /// 1 kbit/s: what only a patient program stands.
    public static let oneKilobit = StubSpeed(kilobitsPerSecond: 1)
    /// 12 kbit/s.
    public static let slow = StubSpeed(kilobitsPerSecond: 12)
    /// 56 kbit/s.
    public static let gprs = StubSpeed(kilobitsPerSecond: 56)
    /// 128 kbit/s.
    public static let edge = StubSpeed(kilobitsPerSecond: 128)
    /// 3,200 kbit/s.
    public static let threeG = StubSpeed(kilobitsPerSecond: 3200)
    /// 7,200 kbit/s.
    public static let threeGPlus = StubSpeed(kilobitsPerSecond: 7200)
    /// 12,000 kbit/s.
    public static let wiFi = StubSpeed(kilobitsPerSecond: 12000)

    /// How much comes at once: a quarter of what comes in a second.
    var bytesPerPiece: Int { max(1, bytesPerSecond / 4) }

    /// How long so many bytes take.
    func duration(of count: Int) -> Duration {
        .seconds(count) / bytesPerSecond
    }
}
