// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Puts the fields of the request over those that its body implies, and both over those of the environment; the
    /// mandatory ones of the body over all.
    ///
    /// Gives the fields that came from the body: should it be replaced by another, they are that one's to change.
    mutating func applyHeaders(of environment: HTTPHeaders) -> HTTPHeaders {
        let explicit = headers
        var implied = body.headers
        implied.removeAll { explicit.contains($0.name) }
        headers = environment
        headers.merge(implied)
        headers.merge(explicit)
        headers.merge(body.mandatoryHeaders)
        implied.merge(body.mandatoryHeaders)
        return implied
    }

    /// Encodes the body, and brings the header in line with it.
    ///
    /// A field that the body implies goes into the place of one that was only implied, too; what was set or removed by
    /// hand stays that way. The mandatory fields replace all others.
    ///
    /// - Parameters:
    ///   - implied: The fields that ``applyHeaders(of:)`` gave.
    ///   - makeEncoder: Makes the encoder of JSON, where the body brings none; nil takes a plain one.
    /// - Throws: What the encoding throws.
    mutating func resolveBody(implied: HTTPHeaders, using makeEncoder: (@Sendable () -> JSONEncoder)? = nil) throws {
        body = try body.resolved(using: makeEncoder)
        func isUntouched(_ name: HTTPField.Name) -> Bool { headers[values: name] == implied[values: name] }
        // A body that turns out to be none has no type either.
        var names: Set<HTTPField.Name> = []
        for field in body.isEmpty ? implied : body.headers where isUntouched(field.name) { names.insert(field.name) }
        guard !names.isEmpty || !body.mandatoryHeaders.isEmpty else { return }
        headers.removeAll { names.contains($0.name) }
        for field in body.headers where names.contains(field.name) { headers.add(field.value, for: field.name) }
        headers.merge(body.mandatoryHeaders)
    }
}
