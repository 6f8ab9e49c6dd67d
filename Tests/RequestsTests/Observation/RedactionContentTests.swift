// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RedactionContentTests {
    private func redacted(_ text: String, _ type: String?) -> String {
        String(decoding: Redaction.content(Data(text.utf8), type: type) ?? Data(), as: UTF8.self)
    }

    @Test func credentialsInJSONAreRedacted() {
        let text = #"{"user":{"access_token":"a","password":"b"},"list":[{"clientSecret":"c"}],"code":"ok","token":1}"#

        #expect(
            redacted(text, "application/problem+json; charset=utf-8") == """
                {"code":"ok","list":[{"clientSecret":"REDACTED"}],"token":0,\
                "user":{"access_token":"REDACTED","password":"REDACTED"}}
                """
        )
    }

    @Test(arguments: [
        (#"{"apiKey":"a"}"#, #"{"apiKey":"REDACTED"}"#), (#"{"private_key":"a"}"#, #"{"private_key":"REDACTED"}"#),
        (#"{"SecretAccessKey":"a"}"#, #"{"SecretAccessKey":"REDACTED"}"#), (#"{"pwd":"a"}"#, #"{"pwd":"REDACTED"}"#),
        (#"{"authorization":"a"}"#, #"{"authorization":"REDACTED"}"#), (#"{"otp":"a"}"#, #"{"otp":"REDACTED"}"#),
        (#"{"sessionId":"a"}"#, #"{"sessionId":"REDACTED"}"#),
        (#"{"passwords":["a"]}"#, #"{"passwords":["REDACTED"]}"#),
        (#"{"tokens":[1,["a"]]}"#, #"{"tokens":[1,["REDACTED"]]}"#),
        (#"{"passcode":123456,"otp":7}"#, #"{"otp":0,"passcode":0}"#),
        (#"{"tokens":["a",{"jwt":"b"}]}"#, #"{"tokens":["REDACTED",{"jwt":"REDACTED"}]}"#),
    ])
    func credentialNamesAreRecognized(text: String, expected: String) {
        #expect(redacted(text, "application/json") == expected)
    }

    /// For any type, or none.
    @Test(arguments: [nil, "text/json", "text/plain", "application/x-ndjson", "application/x-www-form-urlencoded"])
    func contentResemblingJSONIsParsedAsJSON(type: String?) {
        #expect(redacted(#" {"token":"a"}"#, type) == #"{"token":"REDACTED"}"#)
        #expect(
            redacted("{\"token\":\"a\"}\n\n{ \"b\":1}\n", type) == "{\"token\":\"REDACTED\"}\n\n{ \"b\":1}\n"
        )
        #expect(redacted(#"{"max_tokens": 5, "text":"and so"#, type) == #"{"max_tokens": 5, "text":"and so"#)
        #expect(redacted(#"{"max_tokens": 5, "token":"a"#, type) == "")
        for text in [#"{"token": 9f86d081, "a"#, #"{"privateKey": -----BEGIN"#, #"{"token": , "a"#] {
            #expect(redacted(text, type) == "")
        }
    }

    @Test func multipartFormWithCredentialIsOmitted() {
        let type = "multipart/form-data; boundary=b"
        func form(_ name: String) -> String {
            "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\nhush\r\n--b--\r\n"
        }

        #expect(redacted(form("password"), type) == "" && redacted(form("city"), type) == form("city"))
    }

    @Test(arguments: [
        ("[0][password]=hunter2&x=1", "[0][password]=REDACTED&x=1"), ("{a}=1&token=b", "{a}=1&token=REDACTED"),
        (#"{"password":"hun"#, ""), (#"{"a":1"#, #"{"a":1"#),
    ])
    func formResemblingJSONIsParsedAsForm(text: String, expected: String) {
        #expect(redacted(text, "application/x-www-form-urlencoded") == expected)
    }

    @Test func numericCodesAreRedacted() {
        #expect(redacted(#"{"backup_passcodes":[12,34]}"#, nil) == #"{"backup_passcodes":[0,0]}"#)
        #expect(redacted(#"{"otp":123456,"#, nil) == "")
        #expect(redacted(#"{"max_tokens":123456,"#, nil) == #"{"max_tokens":123456,"#)
    }

    @Test func nonUTF8FormBytesArePreserved() {
        let form = Data([0x61, 0x3D, 0xFF])

        #expect(Redaction.content(form, type: "application/x-www-form-urlencoded") == form)
    }

    @Test(arguments: [#"{"access_token":"abc","refresh"#, #"{"access_token":"ab"#, #"["password","a"#])
    func truncatedContentWithCredentialIsOmitted(text: String) {
        #expect(redacted(text, "application/json") == "")
    }

    @Test func secretFormFieldsAreRedacted() {
        let type = "application/x-www-form-urlencoded"

        #expect(redacted("name=Ada&password=a%26b&x", type) == "name=Ada&password=REDACTED&x")
        #expect(redacted("password=a", "text/plain") == "password=REDACTED")
        #expect(redacted("password=a b", "text/plain") == "")
    }

    @Test(arguments: [
        (#"{ "b":1, "a":"x" }"#, "application/json"), (#"{"name":"Ad"#, "application/json"),
        (#"{"code":"a","key":"b"}"#, nil),
        ("a=\u{FFFD}", "application/x-www-form-urlencoded"),
        (#"{"token":"REDACTED", "b":1}"#, "application/json"),
    ])
    func contentWithoutSecretIsUnchanged(text: String, type: String?) {
        #expect(redacted(text, type) == text)
    }
}
