// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

/// The place of the vectors; separate from the tests, because one of their macros needs it.
private enum TemplateVectors {
    static let files: [URL] = {
        var root = URL(filePath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let folder = root.deletingLastPathComponent().appending(path: "shared/vectors/uritemplate")
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }()
}

/// The public test vectors for RFC 6570, if a copy of them is beside the project.
@Suite(.bounded, .tags(.behaviour), .enabled(if: !TemplateVectors.files.isEmpty)) struct URITemplateVectorTests {
    struct Group: Decodable {
        let variables: [String: Value]
        let testcases: [Case]
    }

    struct Case: Decodable {
        let template: String
        /// The right expansions; none if the template is malformed.
        let expansions: [String]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            template = try container.decode(String.self)
            if let expansion = try? container.decode(String.self) {
                expansions = [expansion]
            } else if let several = try? container.decode([String].self) {
                expansions = several
            } else {
                expansions = []
            }
        }
    }

    struct Value: Decodable {
        let value: URITemplate.Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = .undefined
            } else if let list = try? container.decode([Value].self) {
                value = .list(list.compactMap(\.text))
            } else if let map = try? container.decode([String: Value].self) {
                value = .pairs(URITemplate.Pairs(map.sorted { $0.key < $1.key }.map { ($0, $1.text) }))
            } else if let bool = try? container.decode(Bool.self) {
                value = URITemplate.Value(bool)
            } else if let int = try? container.decode(Int.self) {
                value = URITemplate.Value(int)
            } else if let double = try? container.decode(Double.self) {
                value = URITemplate.Value(double)
            } else {
                value = .string(try container.decode(String.self))
            }
        }

        var text: String? {
            guard case .string(let text) = value else { return nil }
            return text
        }
    }

    @Test(arguments: TemplateVectors.files)
    func expansionsAreThoseOfTheVectors(_ file: URL) throws {
        let groups = try JSONDecoder().decode([String: Group].self, from: Data(contentsOf: file))

        for (name, group) in groups {
            let variables = URITemplate.Variables(group.variables.mapValues(\.value))
            for testcase in group.testcases {
                let expansion = try? URITemplate(testcase.template).expand(variables)
                let isRight = expansion.map(testcase.expansions.contains) ?? testcase.expansions.isEmpty
                #expect(isRight, "\(name): \(testcase.template) became \(expansion ?? "an error")")
            }
        }
    }
}
