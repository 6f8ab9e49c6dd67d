// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// Random input, the same in every run unless `REQUESTS_FUZZ_SEED` names another seed.
///
/// A test that fails names its seed.
public struct Fuzz: RandomNumberGenerator {
    public static let seed =
        ProcessInfo.processInfo.environment["REQUESTS_FUZZ_SEED"].flatMap(UInt64.init) ?? 20_260_711

    private var random: SeededRandom

    public init(seed: UInt64 = Fuzz.seed) {
        random = SeededRandom(seed)
    }

    public mutating func next() -> UInt64 { random.next() }

    /// Returns a text of pieces that the parser under test knows, mixed with random bytes.
    public mutating func text(of pieces: [String], upTo count: Int = 12) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            switch Int.random(in: 0..<8, using: &self) {
            case 0: text.unicodeScalars.append(scalar())
            case 1: text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0..<128, using: &self)))
            default: text += pieces.randomElement(using: &self) ?? ""
            }
        }
        return text
    }

    private mutating func scalar() -> Unicode.Scalar {
        Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &self)) ?? "\u{FFFD}"
    }
}
