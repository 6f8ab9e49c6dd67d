// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// Input that nobody thought of, the same in every run unless another seed is asked for.
///
/// `REQUESTS_FUZZ_SEED` and `REQUESTS_FUZZ_CASES` change the seed and the number of cases; a failing test names its
/// seed.
struct Fuzz: RandomNumberGenerator {
    static let seed = setting("REQUESTS_FUZZ_SEED") ?? 20_260_711
    static let cases = setting("REQUESTS_FUZZ_CASES").map(Int.init) ?? 100_000

    private var random: SeededRandom

    init(seed: UInt64 = Fuzz.seed) {
        random = SeededRandom(seed)
    }

    mutating func next() -> UInt64 { random.next() }

    /// A text of pieces that mean something to the parser under test, mixed with bytes that mean nothing.
    mutating func text(of pieces: [String], upTo count: Int = 12) -> String {
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

    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }
}
