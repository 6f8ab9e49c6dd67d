// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder.Session {
    /// Writes a value of a type that only the run time knows.
    func writeUntyped(_ value: Any, to node: QueryEncoder.Node, at path: [any CodingKey]) throws {
        try descend(at: path) {
            if let optional = value as? any Wrapping {
                guard let wrapped = optional.wrapped else { return node.content = .null }
                return try writeUntyped(wrapped, to: node, at: path)
            }
            if value is NSNull { return node.content = .null }
            // Before the Swift types, because on Apple platforms a number that is an object can be cast to Bool.
            if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
                return node.content = .text(try text(ofObject: number, at: path))
            }
            if let text = try options.text(of: value, at: path) { return node.content = .text(text) }
            if let dictionary = value as? [String: Any] {
                node.content = .object([])
                for key in dictionary.keys.sorted() {
                    guard let value = dictionary[key] else { continue }
                    let path = path + [QueryEncoder.Name(key)]
                    guard let child = child(of: node, at: path) else { return }
                    try writeUntyped(value, to: child, at: path)
                    node.setChild(child, named: key)
                }
            } else if let members = value as? [Any] {
                try writeMembers(members, to: node, at: path)
            } else if let members = value as? Set<AnyHashable> {
                try writeMembers(Array(members), to: node, at: path)
                node.sort()
            } else if let value = value as? any Encodable {
                try write(value, to: node, at: path)
            } else {
                throw Self.failure("is a \(type(of: value)), which has no place in a query", at: path)
            }
        }
    }

    private func writeMembers(_ members: [Any], to node: QueryEncoder.Node, at path: [any CodingKey]) throws {
        node.content = .list([])
        for (index, member) in members.enumerated() {
            let path = path + [QueryEncoder.Name(index)]
            guard let child = child(of: node, at: path) else { return }
            try writeUntyped(member, to: child, at: path)
            node.append(child)
        }
    }

    private func text(ofObject number: NSNumber, at path: [any CodingKey]) throws -> String {
        if number.isBool { return options.bools.text(of: number.boolValue) }
        guard number.doubleValue.isFinite else {
            return try options.text(of: number.doubleValue, at: path) ?? number.stringValue
        }
        return number.stringValue
    }
}

extension NSNumber {
    fileprivate var isBool: Bool {
        #if canImport(Darwin)
        CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
        ["c", "B"].contains(String(cString: objCType))
        #endif
    }
}

/// An optional, whatever it is of.
private protocol Wrapping {
    var wrapped: Any? { get }
}

extension Optional: Wrapping {
    fileprivate var wrapped: Any? { self }
}
