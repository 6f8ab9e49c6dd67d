// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@Suite(.bounded) struct SourceTreeTests {
    @Test func sourcesAreFound() {
        #expect(SourceTree.sources.contains { $0.path == "Sources/Requests/Support/Locked.swift" })
    }

    @Test(arguments: [
        ("let a = 1 // HTTPClient", "let a = 1 "),
        ("a /* b /* c */ d */ e", "a  e"),
        ("a /* b\nc */ d", "a \n d"),
        (#"f("HTTPClient // no comment")"#, #"f("")"#),
        (#"f("say \"HTTPClient\"") + g"#, #"f("") + g"#),
        (#"f("\(HTTPClient("x").y(1)) and text") + g"#, #"f(" HTTPClient("").y(1) ") + g"#),
        ("f(#\"a \" \\(b) \\#(c)\"#) + g", "f(\" c \") + g"),
        ("f(\"\"\"\n  \"HTTPClient\"\n  \"\"\") + g", "f(\"\n\n\") + g"),
        ("#if os(Linux)\n#endif", "#if os(Linux)\n#endif"),
    ])
    func onlyCodeIsLeft(of source: String, _ code: String) {
        #expect(SwiftCode.stripping(source) == code)
    }

    @Test func declarationsKnowWhereTheyStand() {
        let file = SourceFile(
            path: "A.swift",
            text: """
                public final class A<T>: Operation where T: Sendable {
                    class func make() { struct Local {} }
                    struct Inner { enum Deep {} }
                    associatedtype B
                }
                extension Outer.Middle { package struct New {} }
                @available(*, deprecated) public typealias C = A<Int>
                let actor = make { $0.actor }
                """
        )

        let found = file.declarations.filter { $0.scope != .local }.map { "\($0.kind) \($0.qualifiedName)" }

        #expect(
            found == [
                "class A", "struct A.Inner", "enum A.Inner.Deep", "associatedtype A.B", "extension Outer.Middle",
                "struct Outer.Middle.New", "typealias C",
            ]
        )
        #expect(file.declarations.filter(\.isPublic).map(\.name) == ["A", "C"])
        #expect(file.declarations.filter { $0.scope == .local }.map(\.name) == ["Local"])
        #expect(file.declarations.first { $0.name == "New" }?.line == 6)
    }
}
