// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

/// The rules about suites: each limits the number and the duration of its tests, and no test waits by sleeping.
struct SuiteRules {
    /// The files that may sleep, with the reason.
    var sleepers: [String: String] = [:]

    static let house = SuiteRules(sleepers: [
        "Tests/RequestsTestingTests/Conformance/BrokenTransport.swift": "the fault is that it blocks its caller",
        "Tests/RequestsTests/Interception/Retry/RetryTests.swift": "a sleep of an hour, which the test cancels",
    ])

    /// Returns the findings in the files of all test targets.
    func violations(in files: [SourceFile]) -> [String] {
        let bounded = Set(files.flatMap(\.boundedSuites))
        return files.flatMap { file in
            unbounded(in: file, besides: bounded) + limited(in: file)
                + (sleepers[file.path] == nil ? sleeping(in: file) : [])
        }
    }

    /// Returns the exceptions for files that don't sleep.
    func staleEntries(in files: [SourceFile]) -> [String] {
        let needed = files.filter { sleepers[$0.path] != nil && !sleeping(in: $0).isEmpty }.map(\.path)
        return Set(sleepers.keys).subtracting(needed).sorted()
    }

    /// Returns the tests outside of a bounded suite, one finding a suite.
    ///
    /// A suite inside another, or inside an extension of another, is bounded with that one.
    private func unbounded(in file: SourceFile, besides bounded: Set<String>) -> [String] {
        let suites = file.topLevelBodies
        var found: [String] = []
        for index in file.occurrences(of: "@", "Test") {
            guard let suite = suites.first(where: { $0.body.contains(index) })?.declaration else {
                found.append(file.finding(atLine: file.tokens[index].line, "a test is in no suite"))
                continue
            }
            let name = String(suite.name.prefix { $0 != "." })
            guard !bounded.contains(file.suite(name)) else { continue }
            found.append(file.finding(atLine: suite.line, "\(name) is not bounded: write `@Suite(.bounded)`"))
        }
        return Set(found).sorted()
    }

    private func limited(in file: SourceFile) -> [String] {
        file.occurrences(of: ".", "timeLimit", "(").map {
            file.finding(
                atLine: file.tokens[$0].line,
                "`.timeLimit` counts the time before the test begins: write `.bounded`"
            )
        }
    }

    private func sleeping(in file: SourceFile) -> [String] {
        file.tokens.indices.filter { isSleep(at: $0, in: file.tokens) }.map {
            file.finding(atLine: file.tokens[$0].line, "a test doesn't sleep: use a gate or a `ManualClock`")
        }
    }

    private static let sleeps: Set = ["sleep", "usleep", "nanosleep"]
    private static let realTime: Set = ["Thread", "Task", ">", "Glibc", "Darwin"]
    private static let clocks = [["ContinuousClock", "(", ")", "."], ["SuspendingClock", "(", ")", "."]]

    /// Whether a token names a call that sleeps in real time; a test's own clock sleeps until it is advanced.
    private func isSleep(at index: Int, in tokens: [Token]) -> Bool {
        guard Self.sleeps.contains(tokens[index].text) else { return false }
        guard tokens.dropFirst(index + 1).first?.text == "(" else { return false }
        let before = tokens[..<index].suffix(4).map(\.text)
        guard before.last == "." else { return before.last != "func" && before.last != "case" }
        return Self.clocks.contains(before) || before.dropLast().last.map { Self.realTime.contains($0) } == true
    }
}

extension SourceFile {
    /// The suites at the top level that name the trait.
    fileprivate var boundedSuites: [String] {
        topLevelDeclarations.filter { $0.kind != .extension && isBounded($0) }.map { suite($0.name) }
    }

    /// Returns the name of a suite that is unique in all files of its target.
    fileprivate func suite(_ name: String) -> String {
        "\(folder(below: "Tests") ?? "").\(name)"
    }

    /// The types and extensions at the top level, each with the indices of the tokens of its body.
    fileprivate var topLevelBodies: [(declaration: Declaration, body: Range<Int>)] {
        topLevelDeclarations.map { ($0, body(of: $0)) }
    }

    private var topLevelDeclarations: [Declaration] {
        declarations.filter { $0.scope == .topLevel && $0.kind != .typealias }
    }

    private func isBounded(_ declaration: Declaration) -> Bool {
        let words = attributes(of: declaration).map(\.text)
        return words.contains("Suite") && zip(words, words.dropFirst()).contains { $0 == "." && $1 == "bounded" }
    }

    /// The tokens of the attributes and modifiers of a declaration.
    private func attributes(of declaration: Declaration) -> ArraySlice<Token> {
        var start = declaration.position
        while start > 0 {
            let previous = tokens[start - 1].text
            if ["public", "package", "internal", "fileprivate", "private", "final", "indirect"].contains(previous) {
                start -= 1
            } else if start > 1, tokens[start - 2].text == "@" {
                start -= 2
            } else if previous == ")", let attribute = attribute(closedAt: start - 1) {
                start = attribute
            } else {
                break
            }
        }
        return tokens[start..<declaration.position]
    }

    /// Returns the index of the `@` of an attribute whose arguments end at a parenthesis, if there is one.
    private func attribute(closedAt end: Int) -> Int? {
        var depth = 0
        for index in (0...end).reversed() {
            if tokens[index].text == ")" { depth += 1 }
            if tokens[index].text == "(" { depth -= 1 }
            if depth == 0 { return index > 1 && tokens[index - 2].text == "@" ? index - 2 : nil }
        }
        return nil
    }

    /// The tokens from the brace that opens the body of a declaration to the one that closes it.
    private func body(of declaration: Declaration) -> Range<Int> {
        guard let start = tokens[declaration.position...].firstIndex(where: { $0.text == "{" }) else { return 0..<0 }
        var depth = 0
        for index in start..<tokens.count {
            if tokens[index].text == "{" { depth += 1 }
            if tokens[index].text == "}" { depth -= 1 }
            if depth == 0 { return start..<index }
        }
        return start..<tokens.count
    }
}

@Suite(.bounded) struct SuiteTests {
    @Test func suitesAreBoundedAndTestsDoNotSleep() {
        #expect(SuiteRules.house.violations(in: SourceTree.tests) == [])
    }

    @Test func listHasNoEntryThatIsNotNeeded() {
        #expect(SuiteRules.house.staleEntries(in: SourceTree.tests) == [])
    }

    @Test func everyTestTargetIsRead() throws {
        let manifest = try #require(SourceTree.text(of: "Package.swift"))
        #expect(manifest.components(separatedBy: ".testTarget(").count - 1 == SourceTree.testTargets.count)
        for target in SourceTree.testTargets {
            #expect(SourceTree.tests.contains { $0.path.hasPrefix("Tests/\(target)/") }, "\(target)")
        }
    }
}

@Suite(.bounded) struct SuiteRuleTests {
    private func findings(in code: String, _ others: String...) -> [String] {
        let texts = [code] + others
        return SuiteRules().violations(
            in: texts.enumerated().map { SourceFile(path: "Tests/RequestsTests/\($0).swift", text: $1) }
        )
    }

    @Test(arguments: [
        "struct A { @Test func a() {} }",
        "@Suite struct A { @Test func a() {} }",
        "@Suite(.serialized) struct A { @Test func a() {}; @Test func b() {} }",
        "@Suite(.serialized) struct A { @Suite(.bounded) struct B { @Test func a() {} } }",
        "@Suite(.bounded) struct B {}\nstruct A { @Test func a() {} }",
        "extension A { @Suite(.bounded) struct B { @Test func a() {} } }",
        "func a() {}\n@Test func b() {}",
        "@Suite(.bounded, .timeLimit(.minutes(1))) struct A { @Test func a() {} }",
        "@Suite(.bounded) struct A { @Test(.timeLimit(.minutes(1))) func a() {} }",
        "func a() { sleep(1) }",
        "func a() { usleep(1) }",
        "func a() { Glibc.sleep(1) }",
        "func a() { Thread.sleep(forTimeInterval: 1) }",
        "func a() async { try? await Task.sleep(for: .seconds(1)) }",
        "func a() async { try? await Task<Never, Never>.sleep(nanoseconds: 1) }",
        "func a() async { try? await ContinuousClock().sleep(for: .seconds(1)) }",
    ])
    func violationIsFound(in code: String) {
        #expect(findings(in: code).count == 1)
    }

    @Test(arguments: [
        "@Suite(.bounded) struct A { @Test func a() {} }",
        "@Suite(\"A\", .serialized, .bounded) private final class A { @Test(arguments: [1]) func a(_: Int) {} }",
        "@Suite(.bounded, .enabled(if: b { $0 == nil }, \"b\"))\nstruct A { @Test func a() {} }",
        "@Suite(.bounded) @available(macOS 15, *) struct A { struct B { @Test func a() {} } }",
        "@Suite(.bounded) enum A {}\nextension A { @Suite(.enabled(if: b)) struct B { @Test func a() {} } }",
        "struct A { func a() {} }",
        "// @Test func a() { sleep(1) }",
        "let a = \"@Test func a() { sleep(1) }\"",
        "let a = Scale.timeLimit",
        "func sleep(until deadline: Instant) {}",
        "enum A { case sleep(Duration) }",
        "func a() async { try? await clock.sleep(for: .seconds(1)) }",
        "let a = [.sleep(1)]",
    ])
    func allowedCodeIsNotFound(in code: String) {
        #expect(findings(in: code) == [])
    }

    @Test func extensionInAnotherFileBelongsToItsSuite() {
        let suite = "@Suite(.bounded) struct A {}"
        let aspect = "extension A { @Test func a() {} }\nextension A.B { @Test func b() {} }"
        #expect(findings(in: aspect, suite) == [])
        let files = [
            SourceFile(path: "Tests/RequestsTests/A.swift", text: suite),
            SourceFile(path: "Tests/IntegrationTests/A.swift", text: aspect),
        ]
        #expect(SuiteRules().violations(in: files).count == 2)
    }

    @Test func findingNamesTheSuiteAndItsLine() {
        let expected = "Tests/RequestsTests/0.swift:2: A is not bounded: write `@Suite(.bounded)`"
        #expect(findings(in: "\nstruct A {\n    @Test func a() {}\n}") == [expected])
    }

    @Test func exceptionIsAllowedWhileItIsNeeded() {
        let rules = SuiteRules(sleepers: ["A.swift": "why", "B.swift": "why"])
        let files = [
            SourceFile(path: "A.swift", text: "func a() { sleep(1) }"),
            SourceFile(path: "B.swift", text: "func b() {}"),
        ]
        #expect(rules.violations(in: files) == [])
        #expect(rules.staleEntries(in: files) == ["B.swift"])
    }
}
