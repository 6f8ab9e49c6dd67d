// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Errors of the library that only the library makes.
@Suite(.bounded) struct LibraryErrorTests {
    @Test(
        arguments: [
            InvalidValue(.template, "has an unclosed brace, at byte 3", excerpt: "{a"), HTTPBody.Stream.AlreadyRead(),
            NegatedConditionHolds(),
        ] as [any Error & CustomStringConvertible]
    )
    func requestErrorRepeatsUnderlyingReason(error: any Error & CustomStringConvertible) {
        let outer = RequestError(.conditionFailed, phase: .building, underlying: error)

        #expect("\(outer)".hasSuffix(": \(error)") && error.localizedDescription == "\(error)")
    }

    @Test func consumedStreamIsNotReplayable() {
        #expect(RequestError(HTTPBody.Stream.AlreadyRead()).code == .bodyNotReplayable)
    }
}
