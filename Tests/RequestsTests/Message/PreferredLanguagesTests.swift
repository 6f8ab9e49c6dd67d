// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct PreferredLanguagesTests {
    @Test(
        arguments: [
            (["de-DE", "en", "fr", "it", "es", "pt", "nl"], "de-DE, en;q=0.9, fr;q=0.8, it;q=0.7, es;q=0.6, pt;q=0.5"),
            ([], nil), (["a\r\nb", "", "x_y", String(repeating: "a", count: 36)], nil), (["\0", "en"], "en"),
        ] as [([String], String?)]
    )
    func atMostSixLanguagesAreSent(languages: [String], value: String?) {
        #expect(HTTPField.preferredLanguages(languages)?.value == value)
    }

    #if os(Linux)
    /// A server has no user whose languages it could name.
    @Test func linuxSendsNoLanguages() {
        #expect(HTTPHeaders.default.names == [.userAgent])
    }
    #endif
}
