// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RunningProgramTests {
    @Test(
        arguments: [
            (
                RunningProgram(
                    name: "Recipes",
                    version: "2.1",
                    bundle: "com.example.recipes",
                    build: "42",
                    system: "iOS 17.0.1"
                ),
                "Recipes/2.1 (com.example.recipes; build:42; iOS 17.0.1)"
            ),
            (RunningProgram(name: "a b", system: "Linux 6.1.0"), "a_b (Linux 6.1.0)"),
            (RunningProgram(name: "", version: "", system: ""), "Unknown ()"),
            (
                RunningProgram(name: "ü\r\n", version: "1/2", bundle: "(;\\", build: "\0", system: "x"),
                "____/1_2 (___; build:_; x)"
            ),
        ] as [(RunningProgram, String)]
    )
    func userAgentIsValidForAnyBundle(program: RunningProgram, start: String) {
        #expect(program.userAgent == start + " " + RunningProgram.library)
        #expect(program.userAgent.isFieldValue)
    }
}
