// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// Literals of JSON, as they are typed first.
enum JSONLiterals {
    static func bodies(text: String, count: Int, optional: Int?, user: String, name: String) {
        let json: [HTTPBody] = [
            .json(["model": .value(text), "options": ["role": "user", "n": 3]]), .json([]), .json([:]), .json(nil),
            .json([["status": 403, "message": "x"]]), .json(["error": ["status": 403, "message": "x"]]),
            .json([["status": 403, "message": .value(text)], [], [:], nil, 1.5, -1, true]),
            .json(["owner": user, "isPublic": true, "pages": count, "note": nil]), .json([name: text, text: name]),
            .json([name: .value(count + 1), "b": [.value(optional), "\(text)!"]]), .json(["title": text]), .json(text),
        ]
        let requests = [
            Post<Void>("chat").body(["model": .value(text), "options": ["role": "user", "n": 3]]),
            Post<Void>("chat").body(["model": text, "n": count]), Post<Void>("chat").body([["n": 3], []]),
        ]
        show(json, requests, HTTPRequest("/").body { ["model": .value(text), "options": ["n": 3]] })
    }

    static func stubs(text: String, count: Int) {
        let responses: [StubResponse] = [
            .json(["error": ["status": 403, "message": "x"]]), .json([]), .json([:]), .json([["status": 403]]),
            .json(["model": .value(text), "options": ["role": "user", "n": 3]]), .json(["model": text, "n": count]),
            .json([["status": 403, "message": .value(text)]], status: .forbidden), .json(#"{"a": "\#(text)"}"#),
            .text(text, type: "text/event-stream"), .events([#"{"text": "a"}"#, "[DONE]"]),
        ]
        let conditions: [StubCondition] = [
            .jsonBody(["eggs": 3, "cook": .value(text), "a": []]), .jsonBody(containing: ["n": [1, .value(count)]]),
        ]
        show(responses, conditions)
    }

    /// The compiler needs far less than half a second for it.
    static func manyValues(text: String, count: Int) -> HTTPBody {
        .json([
            "m0": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 0)], "e": []],
            "m1": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 1)], "e": []],
            "m2": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 2)], "e": []],
            "m3": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 3)], "e": []],
            "m4": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 4)], "e": []],
            "m5": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 5)], "e": []],
            "m6": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 6)], "e": []],
            "m7": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 7)], "e": []],
            "m8": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 8)], "e": []],
            "m9": ["role": "user", "content": .value(text), "n": [1, 2.5, nil, .value(count + 9)], "e": []],
        ])
    }
}
