// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// A text that isn't a literal could be a segment or a path: the error says how to write either.
func requests(text: String) {
    _ = Get<Int>(text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = Get<String>(text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = Get<Data>(text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = Delete<Void>("users/" + text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = Post(text, decoding: .text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = HTTPRequest(text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = HTTPRequest(text, "posts")  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = Download(text)  // error: use "\(text)" for one segment, "\(raw: text)" for a path
    _ = HTTPRequest { $0.path = text }  // error: cannot assign value of type 'String'

    _ = Get<Int>("users", text)
    _ = Get<Int>("users/\(text)")
    _ = Get<Int>("\(text)")
    _ = Get<Int>("\(raw: text)")
    _ = HTTPRequest("users", text)
    _ = HTTPRequest { $0.path = "\(raw: text)" }
}

// Values that have no place in a path.
func requests(id: Int?, day: Date) {
    _ = Get<Int>("users/\(id)")  // error: a value in a path must conform to Query.ValueConvertible
    _ = Get<Int>("days/\(day)")  // error: a value in a path must conform to Query.ValueConvertible
}
