// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RunningProgramTests {
    @Test(
        arguments: [
            (
                RunningProgram.userAgent(
                    name: "Recipes",
                    version: "2.1",
                    bundle: "com.example.recipes",
                    build: "42",
                    system: "iOS 17.0.1"
                ),
                "Recipes/2.1 (com.example.recipes; build:42; iOS 17.0.1)"
            ),
            (RunningProgram.userAgent(name: "a b", system: "Linux 6.1.0"), "a_b (Linux 6.1.0)"),
            (RunningProgram.userAgent(name: "", version: "", system: ""), "Unknown ()"),
            (
                RunningProgram.userAgent(name: "ü\r\n", version: "1/2", bundle: "(;\\", build: "\0", system: "x"),
                "____/1_2 (___; build:_; x)"
            ),
        ] as [(String, String)]
    )
    func userAgentIsValidForAnyBundle(userAgent: String, start: String) {
        #expect(userAgent == start + " " + RunningProgram.library)
        #expect(userAgent.isFieldValue)
    }

    @Test func userAgentOmitsKernelVersion() throws {
        let userAgent = try #require(HTTPHeaders.default[.userAgent])
        let version = ProcessInfo.processInfo.operatingSystemVersion

        #if os(Linux)
        #expect(!userAgent.contains("\(version.majorVersion).\(version.minorVersion)"))
        #expect(userAgent.contains("Linux)"))
        #else
        #expect(userAgent.contains(" \(version.majorVersion).\(version.minorVersion)."))
        #endif
    }
}
