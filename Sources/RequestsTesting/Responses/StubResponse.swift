// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The answer to a request, from a ``MockServer``, an ``HTTPStubber`` or an ``InMemoryTransport``: a response or a
/// failure, and what happens to its delivery.
///
/// Made by a factory, and changed by modifiers:
///
/// ```swift
/// .json(user)
/// .text("late").delayed(by: .seconds(2))
/// .data(image, type: "image/png").throttled(to: .edge)
/// .file(url).reset(after: 100)
/// ```
///
/// The same response means the same to a client everywhere. A server sends bytes, in time and pieces that include the
/// head; a transport without a network reports events, whose times pass on its clock. What one of them can't do is an
/// error that says so: ``raw(_:keepsAlive:)-(String,_)``, ``script(_:keepsAlive:)`` and ``early`` are for servers, and
/// a server answers 500 for a ``failure(_:)-(Error)`` other than a lost connection, which is a reset there.
///
/// A response is a value: it can be shared by servers, stubs and threads, and used any number of times.
public struct StubResponse: Sendable {
    /// The source of the content.
    enum Content: Sendable {
        case data(Data)
        /// Pieces in the `chunked` coding, and the fields behind the last.
        case chunks([Data], trailers: HTTPHeaders)
        /// Made when the response is sent.
        case deferred(@Sendable () throws -> Data)
        /// The content of the request.
        case echo
        /// Pieces that a server sends as they are, without a head.
        case raw([Data])
        /// The script of a WebSocket at a server.
        case socket(@Sendable (MockWebSocket) throws -> Void)
    }

    /// Something that happens to the delivery.
    enum Action: Sendable {
        /// Nothing is delivered for a time.
        case wait(Duration)
        /// Nothing is delivered until the gate is open.
        case hold(Gate)
        /// Nothing is delivered any more.
        case stall
        /// The connection is closed too early.
        case close
        /// The connection is reset.
        case reset
        case fail(RequestError)

        /// Whether nothing is delivered after it.
        var endsDelivery: Bool {
            switch self {
            case .wait, .hold: false
            case .stall, .close, .reset, .fail: true
            }
        }

        /// Whether it ends the connection, which a client with a whole response doesn't notice.
        var endsConnection: Bool {
            switch self {
            case .close, .reset: true
            case .wait, .hold, .stall, .fail: false
            }
        }
    }

    /// An action at a position of the content.
    struct Event: Sendable {
        /// The position before the head.
        static let start = -1

        /// The number of bytes of the content that are delivered first, at least 0, or ``start``.
        var position: Int
        var action: Action

        /// Whether it has to happen before another: at one position, waits come before what ends the delivery.
        func precedes(_ other: Event) -> Bool {
            guard position == other.position else { return position < other.position }
            return !action.endsDelivery && other.action.endsDelivery
        }
    }

    /// The pieces in which the content is delivered.
    struct Pace: Sendable {
        var fragmentSize: Int?
        var pause = Duration.zero
        var speed: Speed?
    }

    /// The status; `nil` if there is no response, but a failure or nothing at all.
    public internal(set) var status: HTTPStatus?
    /// The header fields, without those that are made from the content or the request.
    public var headers: HTTPHeaders
    var content: Content
    /// In the order in which they happen.
    private(set) var events: [Event] = []
    var pace = Pace()
    /// Whether the connection ends after the response.
    var closes = false
    /// Whether the response begins once the head of the request is there.
    var isEarly = false

    init(status: HTTPStatus?, headers: HTTPHeaders = [], content: Content = .data(Data())) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    /// Returns the response with an event, which happens after those that were added for the same position.
    func adding(_ action: Action, at position: Int) -> StubResponse {
        changing { $0.add(action, at: position) }
    }

    /// Adds an event, which happens after those that were added for the same position.
    mutating func add(_ action: Action, at position: Int) {
        let event = Event(position: position, action: action)
        // From the end, where nearly all are added: a script may have thousands.
        let last = events.lastIndex { !event.precedes($0) }
        events.insert(event, at: last.map { $0 + 1 } ?? 0)
    }

    func changing(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var result = self
        change(&result)
        return result
    }
}

// MARK: - Modifiers

extension StubResponse {
    /// The same response, with one more header field, which replaces those of its name.
    public func header(_ name: HTTPField.Name, _ value: String) -> StubResponse {
        changing { $0.headers[name] = value }
    }

    /// The same response, after a time; several delays add up.
    public func delayed(by delay: Duration) -> StubResponse {
        adding(.wait(delay), at: Event.start)
    }

    /// The same response, held until the test opens the gate.
    ///
    /// - Parameters:
    ///   - gate: What is waited for.
    ///   - count: The number of bytes of the content that are delivered first, after the head; by default not even the
    ///     head is.
    /// - Returns: The response.
    public func held(by gate: Gate, after count: Int? = nil) -> StubResponse {
        adding(.hold(gate), at: count.map { max(0, $0) } ?? Event.start)
    }

    /// The same response in pieces.
    ///
    /// - Parameters:
    ///   - size: The number of bytes of a piece, at least 1, which is the default; the last piece may be smaller.
    ///   - pause: The time between two pieces; none by default.
    /// - Returns: The response. If it is called twice, the last call counts.
    public func dripping(by size: Int = 1, every pause: Duration = .zero) -> StubResponse {
        changing { ($0.pace.fragmentSize, $0.pace.pause) = (max(1, size), pause) }
    }

    /// The same response, no faster than this: in pieces of a twentieth of a second, unless it is
    /// ``dripping(by:every:)`` in others.
    public func throttled(to speed: Speed) -> StubResponse {
        changing { $0.pace.speed = speed }
    }

    /// The same response with `Connection: close`, after which a server closes the connection.
    public var closing: StubResponse {
        changing { $0.closes = true }
    }

    /// The same response, whose connection is closed after `count` bytes of the content, or after all if there are
    /// fewer.
    ///
    /// With 0, the head is delivered, and nothing of the content. The client sees a lost connection, unless it has all
    /// that the head promised already.
    public func truncated(after count: Int) -> StubResponse {
        adding(.close, at: max(0, count))
    }

    /// The same response, whose connection is reset after `count` bytes of the content, or after all if there are
    /// fewer.
    ///
    /// With 0, the head is delivered, and nothing of the content. The client sees a lost connection, unless it has all
    /// that the head promised already. A client of a server that doesn't read for a second may get fewer bytes: a RST
    /// discards those that can't be sent.
    public func reset(after count: Int) -> StubResponse {
        adding(.reset, at: max(0, count))
    }

    /// The same response, which stalls after `count` bytes of the content, or after all if there are fewer, and never
    /// ends.
    public func stalled(after count: Int) -> StubResponse {
        adding(.stall, at: max(0, count))
    }
}

// MARK: - Speed

extension StubResponse {
    /// The rate at which a response is delivered.
    ///
    /// The presets stand for the nominal rate of a kind of network, in thousands of bits a second:
    ///
    /// | preset | kbit/s |
    /// |---|---|
    /// | ``oneKilobit`` | 1 |
    /// | ``slow`` | 12 |
    /// | ``gprs`` | 56 |
    /// | ``edge`` | 128 |
    /// | ``threeG`` | 3,200 |
    /// | ``threeGPlus`` | 7,200 |
    /// | ``wiFi`` | 12,000 |
    public struct Speed: Sendable, Hashable {
        /// The rate, in bytes a second; at least 1.
        public let bytesPerSecond: Int

        /// Creates a speed from a rate in bytes a second; less than 1 counts as 1.
        public init(bytesPerSecond: Int) {
            self.bytesPerSecond = max(1, bytesPerSecond)
        }

        /// Creates a speed from a rate in thousands of bits a second; less than 1 counts as 1.
        public init(kilobitsPerSecond: Int) {
            self.init(bytesPerSecond: max(1, min(kilobitsPerSecond, 1_000_000_000)) * 125)
        }

        /// 1 kbit/s, for tests of timeouts.
        public static let oneKilobit = Speed(kilobitsPerSecond: 1)
        /// 12 kbit/s.
        public static let slow = Speed(kilobitsPerSecond: 12)
        /// 56 kbit/s.
        public static let gprs = Speed(kilobitsPerSecond: 56)
        /// 128 kbit/s.
        public static let edge = Speed(kilobitsPerSecond: 128)
        /// 3,200 kbit/s.
        public static let threeG = Speed(kilobitsPerSecond: 3200)
        /// 7,200 kbit/s.
        public static let threeGPlus = Speed(kilobitsPerSecond: 7200)
        /// 12,000 kbit/s.
        public static let wiFi = Speed(kilobitsPerSecond: 12000)

        /// The size of a piece: what is delivered in a twentieth of a second.
        var bytesPerFragment: Int { max(1, bytesPerSecond / 20) }

        /// The time that `count` bytes take.
        func duration(of count: Int) -> Duration {
            .seconds(count) / bytesPerSecond
        }
    }
}
