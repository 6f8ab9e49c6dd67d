// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A value of a script with its path, which errors mention.
struct ScriptEntry: Sendable {
    let value: JSONValue
    let path: String

    init(_ value: JSONValue, at path: String) {
        (self.value, self.path) = (value, path)
    }

    func fault(_ reason: String) -> ServerScript.Fault {
        ServerScript.Fault(entry: path, reason: reason)
    }

    func members() throws(ServerScript.Fault) -> Members {
        guard case .object(let members) = value else {
            throw fault(path.isEmpty ? "the script isn't an object" : "isn't an object")
        }
        return Members(path: path, left: members)
    }

    func elements() throws(ServerScript.Fault) -> [ScriptEntry] {
        guard case .array(let elements) = value else { throw fault("isn't an array") }
        return elements.enumerated().map { ScriptEntry($1, at: "\(path)[\($0)]") }
    }

    func text() throws(ServerScript.Fault) -> String {
        guard case .string(let text) = value else { throw fault("isn't a text") }
        return text
    }

    func flag() throws(ServerScript.Fault) -> Bool {
        guard case .bool(let flag) = value else { throw fault("is neither true nor false") }
        return flag
    }

    func integer(_ range: ClosedRange<Int>) throws(ServerScript.Fault) -> Int {
        guard case .integer(let number) = value, let number = Int(exactly: number), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
            throw fault("isn't a whole number, \(bounds)")
        }
        return number
    }

    /// Reads a time in seconds, up to a day.
    func duration() throws(ServerScript.Fault) -> Duration {
        let seconds: Double
        switch value {
        case .integer(let number): seconds = Double(number)
        case .double(let number): seconds = number
        default: seconds = .nan
        }
        guard (0...86_400).contains(seconds) else { throw fault("isn't a number of seconds, from 0 to 86400") }
        return .seconds(seconds)
    }

    /// The members of an object; the reader takes each member that it knows.
    struct Members: Sendable {
        let path: String
        fileprivate var left: [String: JSONValue]
        private var known: [String] = []

        fileprivate init(path: String, left: [String: JSONValue]) {
            (self.path, self.left) = (path, left)
        }

        mutating func take(_ name: String) -> ScriptEntry? {
            known.append(name)
            return left.removeValue(forKey: name).map { ScriptEntry($0, at: path.isEmpty ? name : "\(path).\(name)") }
        }

        /// Takes all remaining members, in the order of their names.
        mutating func takeAll() -> [(name: String, entry: ScriptEntry)] {
            left.keys.sorted().compactMap { name in take(name).map { (name, $0) } }
        }

        /// Ends the reading; throws if an unknown member is left.
        func finish() throws(ServerScript.Fault) {
            guard let stranger = left.keys.min() else { return }
            let entry = path.isEmpty ? stranger.shortened() : "\(path).\(stranger.shortened())"
            throw ServerScript.Fault(
                entry: entry,
                reason: "isn't known here; there are \(known.joined(separator: ", "))"
            )
        }
    }
}
