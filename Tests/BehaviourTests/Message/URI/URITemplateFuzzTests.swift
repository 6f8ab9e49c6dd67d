// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct URITemplateFuzzTests {
    private static let pieces = [
        "{", "}", "{a}", "{+b}", "{#a,b}", "{?a,b*}", "{&c:3}", "{;a}", "{.b}", "{/a*}", "a", "/", "%", "%2F", "é", ",",
        "*", ":3",
    ]

    /// The characters of a URL (RFC 3986, sections 2.2 and 2.3), and the percent sign.
    private static let address = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%".utf8
    )

    @Test func randomTextParsesOrFailsWithOffset() {
        var fuzz = Fuzz()
        let variables: URITemplate.Variables = ["a": "x y/%41", "b": ["1", "é"], "c": "\r\n😀%zz"]
        for _ in 0..<Scale.fuzz() {
            let text = fuzz.text(of: Self.pieces, upTo: 6)
            do throws(InvalidValue) {
                let template = try URITemplate(text)
                let expansion = try template.expand(variables)
                #expect(expansion.utf8.allSatisfy { Self.address.contains($0) })
                #expect(expansion.utf8.count <= text.utf8.count * 30 + 30)
                #expect(template == URITemplate(stringLiteral: text))
            } catch {
                // The only other error, a prefix modifier on a list, has no offset.
                let offset = error.reason.split(separator: " ").last.flatMap { Int($0) } ?? 0
                #expect((0...text.utf8.count).contains(offset), "\(text.debugDescription), seed \(Fuzz.seed)")
            }
        }
    }

    @Test func simpleExpansionsRoundTrip() throws {
        var fuzz = Fuzz()
        let template: URITemplate = "/{a}/x{;b}{?c,d}{#e}"
        let pieces = ["a", "%41", "/", "?", "&", "=", ";", "é", "\r\n", "+", " ", "."]
        for _ in 0..<Scale.fuzz(weight: 10) {
            var values: [String: URITemplate.Value] = ["a": .string("-" + fuzz.text(of: pieces, upTo: 4))]
            for name in ["b", "c", "d"] where Bool.random(using: &fuzz) {
                values[name] = .string(fuzz.text(of: pieces, upTo: 4))
            }

            let expansion = try template.expand(URITemplate.Variables(values))

            #expect(template.extract(from: expansion) == values, "\(expansion), seed \(Fuzz.seed)")
        }
    }

    @Test func extractedVariablesExpandToEquivalentURL() throws {
        var fuzz = Fuzz()
        let templates: [URITemplate] = ["{+a}{?b,c}", "{a}{.b,c}{/d,e}", "{;a,b}{&c}{#d,e}", "{a,b}{+c,d}x"]
        let pieces = ["a", "x", "?b=", "&c=", ";a", ";b=", "/", ".", ",", "#", "%2F", "%c3%A9", "%FF", "=", "é"]
        for _ in 0..<Scale.fuzz(weight: 10) {
            let text = fuzz.text(of: pieces, upTo: 6)
            for template in templates {
                guard let values = template.extract(from: text) else { continue }
                let expansion = try template.expand(URITemplate.Variables(values))
                #expect(template.extract(from: expansion) == values, "\(text.debugDescription), seed \(Fuzz.seed)")
            }
        }
    }

    /// A hundred times the length takes about a hundred times as long; quadratic code would take ten thousand times
    /// as long.
    @Test(arguments: ["{a}", "{?a,b}", "a%20b", "é", "{", "%41{+a}"])
    func longTemplatesTakeLinearTime(_ piece: String) {
        func time(_ count: Int) -> Duration {
            let text = String(repeating: piece, count: count)
            return ProcessorTime.shortest { _ = try? URITemplate(text).expand(["a": "b c"]) }
        }
        let count = Scale.pick(100, whole: 1000)
        #expect(time(100 * count) < time(count) * 1000)
    }
}
