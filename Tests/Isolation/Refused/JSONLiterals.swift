// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

final class NotEncodable {}

// A literal of JSON whose variables aren't marked: the error says how to mark them.
func bodies(text: String, count: Int, any: [String: Any]) {
    _ = HTTPBody.json(["model": text, "options": ["role": "user", "n": 3]])  // error: use .value(x)
    _ = HTTPBody.json([["status": 403, "message": text]])  // error: use .value(x)
    _ = HTTPBody.json(["model": text, "tools": []])  // error: use .value(x)
    _ = HTTPBody.json(["model": text, "stop": ["a": nil]])  // error: use .value(x)
    _ = HTTPBody.json(any)  // error: for a [String: Any], use .jsonObject
    _ = HTTPBody.json(["model": .value(text), "n": count])  // error: to expected dictionary value type
    _ = HTTPBody.json(["model": .value(NotEncodable())])  // error: does not conform to expected type 'Encodable'
    _ = HTTPBody.json(["model": .string(text), "n": [1]])  // error: 'string' has been renamed to 'value(_:)'
    _ = Post<Void>("chat").body(["model": text, "options": ["a": "b", "n": 3]])  // error: use .value(x)
    _ = HTTPRequest("/").body { ["model": text, "options": ["a": "b", "n": 3]] }  // error: use .value(x)
    _ = JSONValue.number(3)  // error: use .integer(3) or .double(2.5)
}

func stubs(text: String) {
    _ = StubResponse.json(["model": text, "options": ["a": "b", "n": 3]])  // error: use .value(x)
    _ = StubResponse.json([["status": 403, "message": text]])  // error: use .value(x)
    _ = StubCondition.jsonBody(["name": text])  // error: value of type 'String' to expected dictionary value type
}
