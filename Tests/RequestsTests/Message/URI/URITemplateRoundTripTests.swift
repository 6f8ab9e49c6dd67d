// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

/// `extract` returns the values of `expand`, if no other values have the same expansion.
@Suite(.bounded) struct URITemplateRoundTripTests {
    /// Whether no other values expand to the same text.
    ///
    /// A list with its comma differs from a text, but pairs may equal a list. Reserved characters and variables without
    /// a name make all values ambiguous.
    private func isUnambiguous(_ template: URITemplate) throws -> Bool {
        for case .expression(let expression) in try template.parts.get() {
            guard !expression.kind.keepsReserved else { return false }
            for variable in expression.variables {
                switch URITemplate.Variables.ofTheStandard[variable.name] {
                case .string(let text): if text.isEmpty, expression.kind.first.isEmpty { return false }
                case .list: continue
                case .pairs:
                    if variable.modifier == .none || expression.kind == .label { return false }
                case .undefined: if !expression.kind.isNamed, expression.variables.count > 1 { return false }
                }
            }
        }
        return true
    }

    /// Returns the values that the template includes.
    private func shown(by template: URITemplate) throws -> [String: URITemplate.Value] {
        var values: [String: URITemplate.Value] = [:]
        var full: Set<String> = []
        for case .expression(let expression) in try template.parts.get() {
            for variable in expression.variables {
                let value = URITemplate.Variables.ofTheStandard[variable.name]
                guard value.isDefined, !full.contains(variable.name) else { continue }
                if case .prefix(let length) = variable.modifier, case .string(let text) = value {
                    values[variable.name] = .string(String(text.prefix(length)))
                } else {
                    values[variable.name] = value
                    full.insert(variable.name)
                }
            }
        }
        return values
    }

    @Test(arguments: URITemplate.standard)
    func standardExpansionsAreFound(_ text: String, _ expansion: String) throws {
        let template = try URITemplate(text)
        let isUnambiguous = try isUnambiguous(template)
        guard let values = template.extract(from: expansion) else {
            // Labels that contain dots are ambiguous.
            return #expect(text.hasPrefix("X{.keys"))
        }

        #expect(try template.expand(URITemplate.Variables(values)) == expansion)
        #expect(try !isUnambiguous || values == shown(by: template))
    }

    @Test func valuesComeBackWhateverTheyHold() throws {
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
            switch Int.random(in: 0...5, using: &random) {
            case 0: template += "{\(kind)\(name)}"
            case 1:
                (template, values[name]) = (template + "{\(kind)\(name)}", .string(text()))
            case 2:
                (template, values[name]) = (template + "{\(kind)\(name)}", .list([text(), text()]))
            case 3:
                (template, values[name]) = (
                    template + "{\(kind)\(name):2}", .string(String(text().unicodeScalars.prefix(2)))
                )
            case 4 where kind != "/":
                (template, values[name]) = (template + "{\(kind)\(name)*}", .list([text(), text(), text()]))
            default:
                guard kind == ";" else { continue }
                let pairs: URITemplate.Pairs = ["k" + text(): text(), "l": text()]
                (template, values[name]) = (template + "{\(kind)\(name)*}", .pairs(pairs))
            }
            template += kind == "/" ? "/@" : ""
        }
        return (try URITemplate(template), values)
    }
}
