// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The phases of an exchange as an HTTP archive has them, in milliseconds; -1 for one that didn't happen or isn't known
/// of.
struct ArchiveTimings: Sendable {
    private var microseconds: [String: Int64] = ["send": 0, "wait": 0, "receive": 0]

    init(_ segments: [RequestTimeline.Span.Segment]) {
        for segment in segments {
            // Of two rounded ends, so that the rounded phases add up to the rounded whole.
            let duration = segment.range.upperBound.wholeMicroseconds - segment.range.lowerBound.wholeMicroseconds
            microseconds[Self.name(of: segment.activity), default: 0] += duration
            if segment.activity == .phase(.secureConnect) { microseconds["ssl"] = duration }
        }
    }

    var value: JSONValue {
        let names = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
        return .object(
            Dictionary(names.map { ($0, microseconds[$0].map(Self.milliseconds) ?? -1) }) { first, _ in first }
        )
    }

    /// The sum of all phases, but for that of TLS, which is in that of the connection already.
    var total: JSONValue {
        Self.milliseconds(microseconds.filter { $0.key != "ssl" }.values.reduce(0, +))
    }

    private static func name(of activity: RequestTimeline.Span.Segment.Activity) -> String {
        switch activity {
        case .phase(.queue): "blocked"
        case .phase(.nameLookup): "dns"
        case .phase(.connect), .phase(.secureConnect): "connect"
        case .phase(.request): "send"
        case .phase(.response): "receive"
        case .phase(.wait), .failing, .unknown: "wait"
        }
    }

    private static func milliseconds(_ microseconds: Int64) -> JSONValue {
        .double(Double(microseconds) / 1000)
    }
}
