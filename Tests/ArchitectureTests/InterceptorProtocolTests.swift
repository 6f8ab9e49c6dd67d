// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The rule about protocols that interceptors may conform to besides `Interceptor`.
///
/// The chain looks for them. For an interceptor that is limited to some requests, it finds them only if
/// `ScopedInterceptor` passes them on.
enum InterceptorProtocols {
    /// The protocols that refine `Interceptor`.
    static func all(in files: [SourceFile]) -> [String] {
        files.flatMap(\.declarations)
            .filter { $0.kind == .protocol && $0.header.contains { $0.text == "Interceptor" } }
            .map(\.name).sorted()
    }

    /// Returns the protocols that a limited interceptor conforms to if the interceptor inside it does.
    static func passedOn(in files: [SourceFile]) -> [String] {
        files.flatMap(\.declarations)
            .filter { $0.kind == .extension && $0.name == "ScopedInterceptor" }
            .compactMap { declaration in
                let words = declaration.header.map(\.text)
                guard words.count == 6, words[2...4] == ["where", "Base", ":"], words[1] == words[5] else { return nil }
                return words[1]
            }
            .sorted()
    }
}

@Suite(.bounded) struct InterceptorProtocolTests {
    @Test func limitedInterceptorPassesOnEveryProtocol() {
        let all = InterceptorProtocols.all(in: SourceTree.sources)

        #expect(all == ["ChallengeAnswering", "HopAuthenticating"])
        #expect(InterceptorProtocols.passedOn(in: SourceTree.sources) == all)
    }

    @Test func protocolThatIsNotPassedOnIsFound() {
        let text = """
            protocol One: Interceptor {}
            protocol Two: Sendable, Interceptor {}
            protocol Three: Sendable {}
            extension ScopedInterceptor: One where Base: One {}
            extension ScopedInterceptor: Two {}
            """
        let files = [SourceFile(path: "Sources/Requests/A.swift", text: text)]

        #expect(InterceptorProtocols.all(in: files) == ["One", "Two"])
        #expect(InterceptorProtocols.passedOn(in: files) == ["One"])
    }
}
