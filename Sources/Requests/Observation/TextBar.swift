// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A stretch of time in so many columns of text.
struct TextBar {
    private var cells: [UInt8]
    private let span: Range<Duration>

    /// - Parameters:
    ///   - columns: How many columns there are; at least one.
    ///   - span: The time that they stand for.
    init(columns: Int, span: Range<Duration>) {
        cells = Array(repeating: UInt8(ascii: " "), count: max(1, columns))
        self.span = span
    }

    /// Fills the columns of a stretch of time, one at least, over what is there.
    mutating func paint(_ range: Range<Duration>, _ glyph: Unicode.Scalar) {
        let first = min(column(of: range.lowerBound), cells.count - 1)
        let last = max(column(of: range.upperBound), first + 1)
        for index in first..<last { cells[index] = UInt8(ascii: glyph) }
    }

    private func column(of time: Duration) -> Int {
        let length = span.upperBound - span.lowerBound
        guard length > .zero else { return 0 }
        let share = min(max(0, (time - span.lowerBound) / length), 1)
        return Int((share * Double(cells.count)).rounded(.down))
    }

    var text: String { String(decoding: cells, as: UTF8.self) }
}

extension RequestTimeline.Span.Segment.Activity {
    /// The character that bars of it are drawn with; ASCII, whose width every terminal agrees on.
    var glyph: Unicode.Scalar {
        switch self {
        case .phase(.queue): "."
        case .phase(.nameLookup): "?"
        case .phase(.connect): "+"
        case .phase(.secureConnect): "*"
        case .phase(.request): ">"
        case .phase(.wait): "="
        case .phase(.response): "<"
        case .failing: "x"
        case .unknown: "-"
        }
    }

    /// A few words for it.
    var title: String {
        switch self {
        case .phase(.queue): "queue"
        case .phase(.nameLookup): "name lookup"
        case .phase(.connect): "connect"
        case .phase(.secureConnect): "TLS"
        case .phase(.request): "request"
        case .phase(.wait): "wait"
        case .phase(.response): "response"
        case .failing: "failing"
        case .unknown: "under way"
        }
    }
}
