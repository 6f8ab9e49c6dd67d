// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension TransportConformance {
    /// What came of a check that wasn't failed, or not unexpectedly.
    public enum Outcome: Sendable, CustomStringConvertible {
        /// The transport keeps the rule.
        case passed
        /// The question doesn't arise, with the reason: a capability that the transport doesn't claim.
        case skipped(String)
        /// The transport is known to break the rule, with the reason that was declared, and what happened; nil where
        /// the check wasn't run at all.
        case known(String, ConformanceFailure?)

        /// The outcome in words.
        public var description: String {
            switch self {
            case .passed: "passed"
            case .skipped(let reason): "skipped: \(reason)"
            case .known(let reason, let failure): "\(failure == nil ? "not run" : "failed"), as is known: \(reason)"
            }
        }
    }

    /// That a transport is known to break a rule, and why: a declared exception rather than a weaker check.
    public enum KnownFault: Sendable {
        /// The check fails each time; that it is passed is a failure, since then the declaration is out of date.
        case fails(String)
        /// The check fails at times.
        case mayFail(String)
        /// The check isn't run: it would end the process, or never end.
        case endsProcess(String)
    }

    /// What came of all checks.
    public struct Report: Sendable, CustomStringConvertible {
        /// Names of declared faults that no check has.
        public let unknownNames: [String]
        /// The checks in their order, each with what came of it.
        public internal(set) var results: [(name: String, outcome: Result<Outcome, ConformanceFailure>)] = []

        /// The checks that were failed, apart from what was declared.
        public var failures: [ConformanceFailure] {
            results.compactMap { result in
                if case .failure(let failure) = result.outcome { failure } else { nil }
            }
        }

        /// Whether nothing failed, apart from what was declared, and what was declared exists.
        public var isConforming: Bool { failures.isEmpty && unknownNames.isEmpty }

        /// A line for each check, and one more for each declaration that no check has.
        public var description: String {
            let lines = results.map { name, outcome in
                switch outcome {
                case .success(let outcome): "\(name): \(outcome)"
                case .failure(let failure): "\(name): failed\n\(failure)"
                }
            }
            return (lines + unknownNames.map { "\($0): declared, but there is no such check" }).joined(separator: "\n")
        }

        init(unknownNames: [String]) {
            self.unknownNames = unknownNames
        }
    }
}
