// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

/// `extract` returns the texts of `expand`, if no other values have the same expansion.
@Suite(.bounded) struct URITemplateRoundTripTests {
    @Test func expandedValuesRoundTrip() throws {
        var random = Fuzz(seed: 6570)
        for _ in 0..<Scale.pick(400, whole: 20_000) {
            let (template, values) = try sample(&random)
            let expansion = try template.expand(URITemplate.Variables(values))

            #expect(template.extract(from: expansion) == values, "\(template) made \(expansion)")
        }
    }

    /// Returns a template whose expansions are unambiguous, and values for it.
    private func sample(_ random: inout Fuzz) throws -> (URITemplate, [String: URITemplate.Value]) {
        func text() -> String {
            let characters = Array("ab1/?#[]@!$&'()*+,;=%é😀 \"-_~")
            return String(
                (0...Int.random(in: 0...4, using: &random)).map { _ in characters.randomElement(using: &random)! }
            )
        }
        var (template, values) = ("/x", [String: URITemplate.Value]())
        for (kind, name) in [("/", "a"), ("/", "b"), (";", "c"), ("?", "d"), ("&", "e"), ("&", "f")] {
            if Bool.random(using: &random) {
                (template, values[name]) = (template + "{\(kind)\(name)}", .string(text()))
            }
            template += kind == "/" ? "/@" : ""
        }
        return (try URITemplate(template), values)
    }
}
