// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct GateTests {
    @Test func everyoneGoesThroughOnceItIsOpen() async {
        let gate = Gate()
        let tasks = (0..<10).map { _ in Task { await gate.wait() } }

        #expect(!gate.isOpen)
        gate.open()
        gate.open()

        for task in tasks { #expect(await task.value) }
        #expect(await gate.wait())
        #expect(gate.isOpen)
    }

    @Test func cancellationEndsTheWait() async {
        let gate = Gate()
        let task = Task { await gate.wait() }

        task.cancel()

        #expect(await task.value == false)
        #expect(!gate.isOpen)
    }

    @Test func aThreadWaitsUntilItIsOpened() async {
        let gate = Gate()
        let passed = Gate()
        let thread = Thread {
            #expect(gate.wait())
            passed.open()
        }
        thread.start()

        #expect(!passed.isOpen)
        gate.open()

        #expect(await passed.wait())
    }

    @Test func aThreadOfAServerWaitsAtMostUntilItsEnd() async {
        let (gate, ending, passed) = (Gate(), Gate(), Gate())
        let thread = Thread {
            Gate.$ending.withValue(ending) { #expect(!gate.wait()) }
            passed.open()
        }
        thread.start()

        ending.open()

        #expect(await passed.wait())
        #expect(!gate.isOpen)
    }

    @Test func aCancelThatRacesTheOpeningEndsTheWait() async {
        for _ in 0..<Scale.races {
            let gate = Gate()
            let task = Task { await gate.wait() }

            async let cancelled: Void = task.cancel()
            async let opened: Void = gate.open()
            _ = await (cancelled, opened)

            _ = await task.value
            #expect(gate.isOpen)
        }
    }
}
