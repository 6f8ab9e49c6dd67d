// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a ``MockServer`` does once it has a request: a script of bytes, pauses and endings.
///
/// Most answers are made by a factory and changed by a fault:
///
/// ```swift
/// .json(#"{"name":"Pancakes"}"#)
/// .text("late").delayed(by: .seconds(1))
/// .data(image, type: "image/png").truncated(after: 100)
/// ```
///
/// Where no factory does, write the script: each ``Step/send(_:)`` is one write, and nothing is added to it.
///
/// ```swift
/// .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Len".utf8)), .pause(.milliseconds(5)), .reset])
/// ```
///
/// A response is a value: it can be shared by servers and threads, and used any number of times.
public struct MockResponse: Sendable {
    /// One step of a script.
    public enum Step: Sendable {
        /// Sends the bytes.
        case send(Data)
        /// Sends the bytes in pieces of so many, at least one, with a pause between any two.
        case sendInPieces(Data, of: Int, every: Duration)
        /// Waits for a time; the connection ends where the client leaves meanwhile, or the server stops.
        case pause(Duration)
        /// Waits until the gate is open; the connection ends where the client leaves meanwhile, or the server stops.
        case waitFor(Gate)
        /// Does nothing more, until the client leaves or the server stops.
        case stall
        /// Closes the connection with a FIN.
        case close
        /// Closes the connection with a RST.
        case reset
    }

    /// Whether the connection may be used again after the script, where the client doesn't ask for its end.
    public var keepsAlive: Bool

    /// Whether the script begins once the head of the request is there.
    var isEarly = false

    typealias Render = @Sendable (_ request: RecordedRequest, _ closes: Bool) -> [Step]

    /// What is sent for a request; `closes` tells that the connection ends afterwards, which a head should mention.
    let render: Render

    init(keepsAlive: Bool = true, render: @escaping Render) {
        self.keepsAlive = keepsAlive
        self.render = render
    }

    /// The steps with which a server answers the request.
    public func steps(for request: RecordedRequest) -> [Step] {
        steps(for: request, isLast: false)
    }

    /// The steps with which a server answers the request, which may be the last that its connection carries.
    func steps(for request: RecordedRequest, isLast: Bool) -> [Step] {
        render(request, isLast || !keepsAlive || !request.keepsAlive)
    }

    /// Makes a response with other steps: `change` gets those of this one.
    ///
    /// What ``truncated(after:)`` and its kin are made with, and what a fault of your own is made with:
    ///
    /// ```swift
    /// extension MockResponse {
    ///     var twice: MockResponse { changingSteps { $0 + $0 } }
    /// }
    /// ```
    public func changingSteps(_ change: @escaping @Sendable ([Step]) -> [Step]) -> MockResponse {
        changingRender { render in { change(render($0, $1)) } }
    }

    /// A response that is like this one but for what is sent.
    func changingRender(_ change: (@escaping Render) -> Render) -> MockResponse {
        var result = MockResponse(keepsAlive: keepsAlive, render: change(render))
        result.isEarly = isEarly
        return result
    }

    /// A response that does these steps, byte for byte.
    public static func script(_ steps: [Step], keepsAlive: Bool = true) -> MockResponse {
        MockResponse(keepsAlive: keepsAlive) { _, _ in steps }
    }

    /// Bytes of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    public static func raw(_ bytes: Data, keepsAlive: Bool = false) -> MockResponse {
        .script([.send(bytes)], keepsAlive: keepsAlive)
    }

    /// Text of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    public static func raw(_ text: String, keepsAlive: Bool = false) -> MockResponse {
        .raw(Data(text.utf8), keepsAlive: keepsAlive)
    }
}
