// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct RequestTemplateTests {
    @Test func sessionOptionsReachTransport() throws {
        var original = URLRequest(url: server)
        original.networkServiceType = .background
        original.httpShouldHandleCookies = false

        let request = TransportRequest(try HTTPRequest(original))

        #expect(request.template?.networkServiceType == .background && !request.usesCookies)
    }

    @Test func plainURLRequestIsNotCopied() throws {
        #if canImport(FoundationNetworking)
        #expect(try HTTPRequest(URLRequest(url: server)).fields.template == nil)
        #endif
    }
}
