// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Requests

@Suite(.timeLimit(.minutes(5))) struct RedactionContentTests {
    private func redacted(_ text: String, _ type: String?) -> String {
        String(decoding: Redaction.content(Data(text.utf8), type: type), as: UTF8.self)
    }

    @Test func credentialsInJSONAreLeftOut() {
        let text = #"{"user":{"access_token":"a","password":"b"},"list":[{"clientSecret":"c"}],"code":"ok","token":1}"#

        #expect(
            redacted(text, "application/problem+json; charset=utf-8") == """
                {"code":"ok","list":[{"clientSecret":"REDACTED"}],"token":1,\
                "user":{"access_token":"REDACTED","password":"REDACTED"}}
                """
        )
    }

    @Test(arguments: [#"{"access_token":"abc","refresh"#, #"{"access_token":"ab"#, #"["password","a"#])
    func whatWasCutOffGoesAsAWholeWhereItNamesACredential(text: String) {
        #expect(redacted(text, "application/json") == "")
    }

    @Test func secretFieldsOfAFormAreLeftOut() {
        let type = "application/x-www-form-urlencoded"

        #expect(redacted("name=Ada&password=a%26b&x", type) == "name=Ada&password=REDACTED&x")
    }

    @Test(arguments: [
        (#"{ "b":1, "a":"x" }"#, "application/json"), (#"{"name":"Ad"#, "application/json"),
        (#"{"token":"a"}"#, "text/plain"), (#"{"token":"a"}"#, nil), ("password=a", "text/plain"),
        (#"{"token":"REDACTED", "b":1}"#, "application/json"),
    ])
    func whatHasNoneStaysAsItIs(text: String, type: String?) {
        #expect(redacted(text, type) == text)
    }
}
