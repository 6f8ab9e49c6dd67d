// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The earliest versions that have an interface, by the names of Apple's systems.
typealias Versions = [String: [Int]]

/// The rule that no interface is used which the oldest supported systems lack, unless the code checks for it.
///
/// On Apple's systems the compiler enforces it. On Linux every interface exists, so the compiler reports nothing.
struct Availability {
    /// A name, or several tokens in a row, that came with a release.
    struct API {
        let name: String
        let since: Versions
        let tokens: [String]

        init(_ name: String, since: Versions) {
            self.name = name
            self.since = since
            tokens = Token.tokens(of: name).map(\.text)
        }
    }

    static let autumn2023: Versions = ["macOS": [14], "iOS": [17], "tvOS": [17], "watchOS": [10], "visionOS": [1]]
    static let autumn2024: Versions = ["macOS": [15], "iOS": [18], "tvOS": [18], "watchOS": [11], "visionOS": [2]]
    static let spring2025: Versions = [
        "macOS": [15, 4], "iOS": [18, 4], "tvOS": [18, 4], "watchOS": [11, 4], "visionOS": [2, 4],
    ]
    static let autumn2025: Versions = ["macOS": [26], "iOS": [26], "tvOS": [26], "watchOS": [26], "visionOS": [26]]

    /// The interfaces that a library like this one is likely to use; on a Mac, the compiler knows the rest.
    ///
    /// The versions are those of `swift-symbolgraph-extract`. `Span` isn't here, since it is available on older systems
    /// too.
    static let newcomers: [API] = [
        (
            autumn2023,
            [
                "withDiscardingTaskGroup", "withThrowingDiscardingTaskGroup", "DiscardingTaskGroup",
                "ThrowingDiscardingTaskGroup", "ExecutorJob", "import Observation", "@Observable",
                "withObservationTracking", "ObservationRegistrar", "#Predicate", "encodingInvalidCharacters:",
                "proxyConfigurations", "ProxyConfiguration", "uploadTask(withResumeData:",
                "didReceiveInformationalResponse",
            ]
        ),
        (
            autumn2024,
            [
                "import Synchronization", "Mutex", "Atomic", "AtomicLazyReference", "WordPair", "TaskExecutor",
                "executorPreference", "withTaskExecutorPreference", "globalConcurrentExecutor", "checkIsolated",
                ".next(isolation:", "AsyncSequence<", "Int128", "UInt128", "RangeSet", "DiscontiguousSlice",
                "String(validating:", "kSecImportToMemoryOnly",
            ]
        ),
        (spring2025, ["isolated deinit"]),
        (
            autumn2025,
            [
                "Task.immediate", "Task.immediateDetached", "Task.name", "addImmediateTask", "InlineArray", "UTF8Span",
                "utf8Span", "Observations", "NetworkConnection",
            ]
        ),
    ].flatMap { since, names in names.map { API($0, since: since) } }

    /// The oldest systems that the package supports.
    let minimum: Versions
    var apis = newcomers

    /// Returns every use that may run on a system without the interface.
    func violations(in files: [SourceFile]) -> [String] {
        files.flatMap { file in
            let own = Set(file.declarations.map(\.name))
            let apis = Dictionary(grouping: apis.filter { !own.contains($0.name) }, by: { $0.tokens[0] })
            var reader = AvailabilityReader(tokens: file.tokens, versions: minimum)
            var findings: [String] = []
            while let index = reader.next() {
                for api in apis[file.tokens[index].text] ?? [] where file.uses(api, at: index) {
                    let missing = reader.versions.filter { system, version in
                        api.since[system].map { version.lexicographicallyPrecedes($0) } ?? false
                    }
                    guard let system = missing.keys.min(), let since = api.since[system] else { continue }
                    let version = since.map(String.init).joined(separator: ".")
                    let message = "`\(api.name)` asks for \(system) \(version), and nothing asks for that around it"
                    findings.append(file.finding(atLine: file.tokens[index].line, message))
                }
            }
            return findings
        }
    }

    /// Returns the oldest systems that a manifest names.
    static func minimum(in manifest: SourceFile) -> Versions {
        var versions: Versions = [:]
        for system in autumn2023.keys {
            for index in manifest.occurrences(of: ".", system, "(", ".") {
                guard let version = manifest.tokens.dropFirst(index + 4).first?.text, version.first == "v" else {
                    continue
                }
                versions[system] = version.dropFirst().split(separator: "_").compactMap { Int($0) }
            }
        }
        return versions
    }
}

extension SourceFile {
    /// Whether the interface itself is named here, rather than a member of another type with the same name.
    fileprivate func uses(_ api: Availability.API, at index: Int) -> Bool {
        let isMember = index > 0 && tokens[index - 1].text == "." && tokens[index].isWord
        return tokens[index...].prefix(api.tokens.count).map(\.text) == api.tokens
            && (!isMember || api.isMember)
    }
}

extension Availability.API {
    /// Whether the name follows a dot, as functions and properties do; these begin with a lower-case letter.
    fileprivate var isMember: Bool { name.first?.isLowercase == true }
}

/// Reads code from its beginning, and knows for each token the oldest system version that can reach it.
///
/// It supports `#if`, `@available`, and `#available` after `if`, `while` and `guard`, but not `#unavailable`. The code
/// inside a conditional compilation doesn't affect the lines after it.
struct AvailabilityReader {
    private struct Scope {
        let outside: Versions
        let pending: Pending?
        let parentheses: Int
    }

    private struct Conditional {
        let outside: Versions
        /// The systems for which an earlier branch was taken.
        var settled: Set<String> = []
    }

    /// A condition that was read, before the code that it guards.
    private struct Pending {
        enum Kind {
            case body, `guard`, declaration
        }

        let kind: Kind
        let outside: Versions
        let parentheses: Int
        /// The line of the keyword of the declaration.
        var line: Int?
    }

    /// The systems that can reach the last token, with the oldest version of each.
    private(set) var versions: Versions

    private let tokens: [Token]
    private var index = 0
    private var parentheses = 0
    private var scopes: [Scope] = []
    private var conditionals: [Conditional] = []
    private var pending: Pending?

    init(tokens: [Token], versions: Versions) {
        self.tokens = tokens
        self.versions = versions
    }

    /// Returns the index of the next token that isn't part of a condition.
    mutating func next() -> Int? {
        while index < tokens.count {
            endDeclaration()
            if skipCondition() { continue }
            switch tokens[index].text {
            case "(", "[": parentheses += 1
            case ")", "]": parentheses -= 1
            case "{": open()
            case "}": close()
            default: break
            }
            index += 1
            return index - 1
        }
        return nil
    }

    private func text(_ offset: Int) -> String? {
        tokens.indices.contains(index + offset) ? tokens[index + offset].text : nil
    }

    // MARK: Braces

    private mutating func open() {
        guard let pending, pending.parentheses == parentheses, pending.kind != .guard || text(-1) == "else" else {
            scopes.append(Scope(outside: versions, pending: pending, parentheses: parentheses))
            (self.pending, parentheses) = (nil, 0)
            return
        }
        // After a `guard`, the condition holds; in its braces, it doesn't.
        let isGuard = pending.kind == .guard
        scopes.append(Scope(outside: isGuard ? versions : pending.outside, pending: nil, parentheses: parentheses))
        if isGuard { versions = pending.outside }
        (self.pending, parentheses) = (nil, 0)
    }

    private mutating func close() {
        guard let scope = scopes.popLast() else { return }
        (versions, pending, parentheses) = (scope.outside, scope.pending, scope.parentheses)
    }

    /// Ends a declaration without a body, possibly of several lines, where the next one begins.
    private mutating func endDeclaration() {
        guard var pending, pending.kind == .declaration, pending.parentheses == parentheses else { return }
        let token = tokens[index]
        let isFirst = index > 0 && tokens[index - 1].line < token.line
        if let line = pending.line {
            guard isFirst, token.line > line, Self.beginnings.contains(token.text) else { return }
            versions = pending.outside
            self.pending = nil
        } else if Self.keywords.contains(token.text) {
            pending.line = token.line
            self.pending = pending
        }
    }

    private static let keywords: Set = [
        "func", "var", "let", "init", "deinit", "subscript", "case", "struct", "class", "enum", "actor", "protocol",
        "extension", "typealias", "associatedtype", "import", "macro",
    ]
    private static let beginnings = keywords.union([
        "@", "#", "public", "package", "internal", "fileprivate", "private", "open", "static", "final", "override",
        "mutating", "nonisolated", "indirect", "lazy", "weak", "convenience", "required", "isolated",
    ])

    // MARK: Conditions

    /// Reads a condition, if there is one here.
    private mutating func skipCondition() -> Bool {
        switch (tokens[index].text, text(1)) {
        case ("#", "if"):
            conditionals.append(Conditional(outside: versions))
            enterBranch(if: condition(after: 2))
        case ("#", "elseif"):
            enterBranch(if: condition(after: 2))
        case ("#", "else"):
            enterBranch(if: [])
        case ("#", "endif"):
            versions = conditionals.popLast()?.outside ?? versions
            index += 2
        case ("#", "available"):
            let word = tokens[..<index].last { ["guard", "if", "while"].contains($0.text) }
            begin(word?.text == "guard" ? .guard : .body)
            raise()
        case ("@", "available"):
            begin(.declaration)
            raise()
        default:
            return false
        }
        return true
    }

    private mutating func begin(_ kind: Pending.Kind) {
        // Several conditions of one declaration or statement have the same outside.
        if let pending, pending.kind == kind, pending.parentheses == parentheses, pending.line == nil { return }
        pending = Pending(kind: kind, outside: versions, parentheses: parentheses)
    }

    /// Reads the versions in the parentheses of a condition.
    private mutating func raise() {
        index += 3
        while index < tokens.count, tokens[index].text != ")" {
            let system = tokens[index].text
            index += 1
            var version: [Int] = []
            while let number = text(0).flatMap({ Int($0) }) {
                version.append(number)
                index += text(1) == "." ? 2 : 1
            }
            if let known = versions[system], known.lexicographicallyPrecedes(version) { versions[system] = version }
        }
        index += 1
    }

    private mutating func condition(after offset: Int) -> ArraySlice<Token> {
        tokens[(index + offset)...].prefix { $0.line == tokens[index].line }
    }

    /// Enters the branch of a conditional compilation, for the systems for which it may be compiled.
    private mutating func enterBranch(if condition: ArraySlice<Token>) {
        guard var conditional = conditionals.popLast() else { return }
        versions = conditional.outside.filter { !conditional.settled.contains($0.key) }
        index += 2 + condition.count
        for system in versions.keys where !condition.isEmpty {
            var condition = CompilationCondition(tokens: condition.map(\.text), system: system)
            switch condition.value() {
            case true?: conditional.settled.insert(system)
            case false?: versions[system] = nil
            case nil: break
            }
        }
        conditionals.append(conditional)
    }
}

/// The condition of an `#if` for one of Apple's systems; `nil` if the system alone doesn't decide it.
private struct CompilationCondition {
    private var tokens: ArraySlice<String>
    private let system: String

    init(tokens: [String], system: String) {
        self.tokens = tokens[...]
        self.system = system
    }

    mutating func value() -> Bool? {
        var result = conjunction()
        while tokens.starts(with: ["|", "|"]) {
            tokens = tokens.dropFirst(2)
            let other = conjunction()
            result = result == true || other == true ? true : (result == false && other == false ? false : nil)
        }
        return result
    }

    private mutating func conjunction() -> Bool? {
        var result = term()
        while tokens.starts(with: ["&", "&"]) {
            tokens = tokens.dropFirst(2)
            let other = term()
            result = result == false || other == false ? false : (result == true && other == true ? true : nil)
        }
        return result
    }

    private mutating func term() -> Bool? {
        switch tokens.popFirst() {
        case "!":
            return term().map { !$0 }
        case "(":
            defer { tokens = tokens.dropFirst() }
            return value()
        case let word:
            guard tokens.first == "(" else { return nil }
            let argument = tokens.dropFirst().prefix { $0 != ")" }
            tokens = tokens.dropFirst(argument.count + 2)
            guard let name = argument.first, argument.count == 1 else { return nil }
            if word == "os" { return name == system }
            guard word == "canImport" else { return nil }
            return Self.modules.contains(name) ? true : (Self.foreignModules.contains(name) ? false : nil)
        }
    }

    private static let modules: Set = ["Darwin", "ObjectiveC", "Foundation", "Security", "Network", "Combine", "os"]
    private static let foreignModules: Set = ["Glibc", "Musl", "Android", "WinSDK", "WASILibc", "FoundationNetworking"]
}

@Suite(.bounded) struct AvailabilityTests {
    @Test func nothingIsUsedThatTheOldestSystemsLack() throws {
        let text = try #require(SourceTree.text(of: "Package.swift"))
        let minimum = Availability.minimum(in: SourceFile(path: "Package.swift", text: text))
        #expect(Set(minimum.keys) == Set(Availability.autumn2023.keys))
        #expect(Availability(minimum: minimum).violations(in: SourceTree.sources) == [])
    }
}

@Suite(.bounded) struct AvailabilityRuleTests {
    private let availability = Availability(
        minimum: ["macOS": [13], "iOS": [16], "tvOS": [16], "watchOS": [9], "visionOS": [1]]
    )

    private func lines(of code: String) -> [Int] {
        availability.violations(in: [SourceFile(path: "A.swift", text: code)]).compactMap { finding in
            finding.split(separator: ":").dropFirst().first.flatMap { Int($0) }
        }
    }

    /// All versions of a release, as in a condition.
    private static let all2024 = "macOS 15, iOS 18.0, tvOS 18, watchOS 11, visionOS 2, *"

    @Test(arguments: [
        "let a: Mutex<Int>",
        "let a = Task.immediate {}",
        "import Synchronization",
        "final class A { isolated deinit {} }",
        "for b in c { group.addImmediateTask {} }",
        "#if os(Linux)\n#else\nlet a: Mutex<Int>\n#endif",
        "#if canImport(Darwin)\nlet a: Mutex<Int>\n#endif",
        "#if !os(macOS)\nlet a: Mutex<Int>\n#endif",
        "#if DEBUG\nlet a: Mutex<Int>\n#endif",
        "#if compiler(>=6.2)\nlet a: Mutex<Int>\n#endif",
        "#if os(Linux) || os(iOS)\nlet a: Mutex<Int>\n#endif",
        "#if os(Linux)\n#endif\nlet a: Mutex<Int>",
        "if #available(macOS 15, *) { f(Mutex(1)) }",
        "if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) { f(Mutex(1)) }",
        "if #available(\(all2024)) {} else { f(Mutex(1)) }",
        "if #available(\(all2024)) {}\nf(Mutex(1))",
        "guard #available(\(all2024)) else { return f(Mutex(1)) }",
        "do { guard #available(\(all2024)) else { return } }\nf(Mutex(1))",
        "@available(\(all2024))\nfunc a() {}\nfunc b(_ a: Mutex<Int>) {}",
        "@available(\(all2024))\nlet a = 1\nlet b = Mutex(1)",
        "@available(*, deprecated)\nlet b = Mutex(1)",
        "let a = \"\\(Mutex(1))\"",
    ])
    func unguardedUseIsFound(in code: String) {
        #expect(lines(of: code).count == 1)
    }

    @Test(arguments: [
        "// Mutex\nlet a = \"Mutex\"",
        "let a: Metrics.Mutex",
        "struct Mutex {}\nlet a: Mutex",
        "let a = RetryStrategy.immediate",
        "let a = URL(filePath: b)",
        "#if os(Linux)\nlet a: Mutex<Int>\n#endif",
        "#if !canImport(Darwin)\nlet a: Mutex<Int>\n#endif",
        "#if canImport(Darwin)\n#else\nlet a: Mutex<Int>\n#endif",
        "#if canImport(Darwin)\n#elseif canImport(Glibc)\nlet a: Mutex<Int>\n#endif",
        "#if os(Linux) && compiler(>=6.2)\nlet a: Mutex<Int>\n#endif",
        "#if !(os(macOS) || canImport(Security))\nlet a: Mutex<Int>\n#endif",
        "if #available(\(all2024)) { f(Mutex(1)) }",
        "if let b = c(d), #available(\(all2024)), let e = Mutex(b) { f { Mutex(1) } }",
        "func a() {\n    guard #available(\(all2024)) else { return }\n    if b { f(Mutex(1)) }\n    f(Mutex(1))\n}",
        "func a() {\n    guard #available(\(all2024)), let b = c.first(where: { d }) else { return }\n    f(Mutex(b))\n}",
        "#if os(macOS)\nguard #available(macOS 15, *) else { return }\noptions[kSecImportToMemoryOnly as String] = true\n#endif",
        "@available(\(all2024))\nextension A {\n    func b(_ c: Mutex<Int> = { Mutex(1) }()) {}\n    let d: Mutex<Int>\n}",
        "@available(macOS 15, *)\n@available(iOS 18, tvOS 18, watchOS 11, visionOS 2, *)\n@inlinable func a() -> Mutex<Int> {}",
        "@available(\(all2024))\nfunc a(\n    @B b: Int,\n    let: Int\n) -> Mutex<Int> {}",
    ])
    func guardedOrUnrelatedUseIsNotFound(in code: String) {
        #expect(lines(of: code) == [])
    }

    @Test func findingNamesTheSystemThatLacksIt() {
        let file = SourceFile(path: "A.swift", text: "\nif #available(macOS 15, *) { f(Mutex(1)) }")
        let expected = "A.swift:2: `Mutex` asks for iOS 18, and nothing asks for that around it"
        #expect(availability.violations(in: [file]) == [expected])
    }

    @Test func oldestSystemsAreReadFromTheManifest() {
        let text = "platforms: [.macOS(.v13), .iOS(.v16_4)], // .tvOS(.v16)"
        let versions = Availability.minimum(in: SourceFile(path: "Package.swift", text: text))
        #expect(versions == ["macOS": [13], "iOS": [16, 4]])
    }
}
