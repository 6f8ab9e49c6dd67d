// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPStatusTests {
    @Test(
        arguments: [
            (100, .informational), (199, .informational), (200, .success), (218, .success), (299, .success),
            (304, .redirection), (425, .clientError), (499, .clientError), (500, .serverError), (599, .serverError),
            (600, .unknown), (99, .unknown), (0, .unknown), (-1, .unknown), (.max, .unknown),
        ] as [(Int, HTTPStatus.Category)]
    )
    func firstDigitDeterminesCategory(code: Int, category: HTTPStatus.Category) {
        #expect(HTTPStatus(code).category == category)
    }

    /// Every code of the IANA registry, except for unused and temporary ones.
    static let registered = [
        100...103, 200...208, 226...226, 300...305, 307...308, 400...417, 421...426, 428...429, 431...431, 451...451,
        500...508, 510...511,
    ]

    @Test(arguments: registered) func registeredCodesHaveNames(_ codes: ClosedRange<Int>) {
        #expect(codes.allSatisfy { HTTPStatus($0).name != nil })
    }

    @Test func descriptionHasCodeAndName() {
        #expect(HTTPStatus.notFound.description == "404 Not Found" && HTTPStatus(218).description == "218")
        #expect(HTTPStatus.imATeapot == 418 && HTTPStatus.ok < .created)
        let named = (0..<1000).count { HTTPStatus($0).name != nil }
        #expect(named == Self.registered.map(\.count).reduce(0, +) + 1)
    }
}
