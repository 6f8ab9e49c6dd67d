// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The response or failure that a ``MockServer``, an ``HTTPStubber`` or an ``InMemoryTransport`` returns for a request,
/// and how it is delivered.
///
/// Create it with a factory, and change it with modifiers:
///
/// ```swift
/// .json(user)
/// .text("late").delayed(by: .seconds(2))
/// .data(image, type: "image/png").throttled(to: .edge)
/// .file(url).reset(after: 100)
/// ```
///
/// A response has the same effect on a client wherever it is used. A server sends bytes, including those of the head,
/// with delays in real time. A transport without a network reports events, with delays on its clock.
///
/// Unsupported responses are reported as errors. ``raw(_:keepsAlive:)-(String,_)``, ``script(_:keepsAlive:)`` and
/// ``early`` require a server. A server can simulate only one ``failure(_:)-(Error)``: a lost connection, for which it
/// resets the connection. For all other failures, it responds with 500.
///
/// A response is a value: servers, stubs and threads can share it, and use it any number of times.
public struct StubResponse: Sendable {
    /// The source of the content.
    enum Content: Sendable {
        case data(Data)
        /// Content in the `chunked` coding, and its trailers.
        case chunks([Data], trailers: HTTPHeaders)
        /// Content that is loaded or encoded when the response is sent.
        case deferred(@Sendable () throws -> Data)
        /// The content of the request.
        case echo
        /// Bytes that a server writes verbatim, without adding a head; each element is one write.
        case raw([Data])
        /// A script that runs the server side of a WebSocket.
        case socket(@Sendable (MockWebSocket) throws -> Void)
    }

    /// An event that affects the delivery.
    enum Action: Sendable {
        /// Delivers nothing for a time.
        case wait(Duration)
        /// Delivers nothing until the gate is open.
        case hold(Gate)
        /// Delivers nothing more, and leaves the connection open.
        case stall
        /// Closes the connection prematurely.
        case close
        /// Resets the connection.
        case reset
        case fail(RequestError)

        /// Whether the action ends the delivery.
        var endsDelivery: Bool {
            switch self {
            case .wait, .hold: false
            case .stall, .close, .reset, .fail: true
            }
        }

        /// Whether the action ends the connection; a client that already has the complete response doesn't notice that.
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

        /// The number of content bytes that are delivered before the action, at least 0; or ``start``.
        var position: Int
        var action: Action

        /// Returns whether the event precedes another; at the same position, waits precede actions that end the
        /// delivery.
        func precedes(_ other: Event) -> Bool {
            guard position == other.position else { return position < other.position }
            return !action.endsDelivery && other.action.endsDelivery
        }
    }

    /// The size and timing of the fragments in which the content is delivered.
    struct Pace: Sendable {
        var fragmentSize: Int?
        var pause = Duration.zero
        var speed: Speed?
    }

    /// The status; `nil` for a failure, for raw bytes, and if there is never a response.
    public internal(set) var status: HTTPStatus?
    /// The header fields, excluding those that are derived from the content or the request.
    public var headers: HTTPHeaders
    var content: Content
    /// The events, in the order in which they happen.
    private(set) var events: [Event] = []
    var pace = Pace()
    /// Whether the connection closes after the response.
    var closes = false
    /// Whether the response is sent as soon as the head of the request has arrived.
    var isEarly = false

    init(status: HTTPStatus?, headers: HTTPHeaders = [], content: Content = .data(Data())) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    /// Returns the response with an event, which happens after existing events at the same position.
    func adding(_ action: Action, at position: Int) -> StubResponse {
        changing { $0.add(action, at: position) }
    }

    /// Adds an event, which happens after existing events at the same position.
    mutating func add(_ action: Action, at position: Int) {
        let event = Event(position: position, action: action)
        // Search from the end, because a script may have thousands of events, nearly all of which are added there.
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
    /// Returns the response with a header field, which replaces existing fields of the same name.
    public func header(_ name: HTTPField.Name, _ value: String) -> StubResponse {
        changing { $0.headers[name] = value }
    }

    /// Returns the response with a delay before it; several delays add up.
    public func delayed(by delay: Duration) -> StubResponse {
        adding(.wait(delay), at: Event.start)
    }

    /// Returns the response, held back until the test opens a gate.
    ///
    /// - Parameters:
    ///   - gate: The gate that holds the response back.
    ///   - count: The number of content bytes to deliver before waiting, after the head; by default, the head is held
    ///     back too.
    /// - Returns: The response.
    public func held(by gate: Gate, after count: Int? = nil) -> StubResponse {
        adding(.hold(gate), at: count.map { max(0, $0) } ?? Event.start)
    }

    /// Returns the response with its content split into small fragments.
    ///
    /// A second call replaces the first.
    ///
    /// - Parameters:
    ///   - size: The number of bytes in a fragment, at least 1, which is the default; the last fragment may be smaller.
    ///   - pause: The time between two fragments; none by default.
    /// - Returns: The response.
    public func dripping(by size: Int = 1, every pause: Duration = .zero) -> StubResponse {
        changing { ($0.pace.fragmentSize, $0.pace.pause) = (max(1, size), pause) }
    }

    /// Returns the response with a limited transfer rate.
    ///
    /// The content is delivered in fragments that take a twentieth of a second each, unless ``dripping(by:every:)``
    /// sets their size.
    public func throttled(to speed: Speed) -> StubResponse {
        changing { $0.pace.speed = speed }
    }

    /// The response with `Connection: close`, after which a server closes the connection.
    public var closing: StubResponse {
        changing { $0.closes = true }
    }

    /// Returns the response with the connection closed after `count` bytes of content, or after all of it if there is
    /// less.
    ///
    /// With 0, the head is delivered, but no content. The client sees a lost connection, unless it already has all the
    /// content that the head promised.
    public func truncated(after count: Int) -> StubResponse {
        adding(.close, at: max(0, count))
    }

    /// Returns the response with the connection reset after `count` bytes of content, or after all of it if there is
    /// less.
    ///
    /// With 0, the head is delivered, but no content. The client sees a lost connection, unless it already has all the
    /// content that the head promised. From a server, a client that doesn't read for a second may get fewer bytes,
    /// because a RST discards unsent bytes.
    public func reset(after count: Int) -> StubResponse {
        adding(.reset, at: max(0, count))
    }

    /// Returns a response that never completes: it stalls after `count` bytes of content, or after all of it if there
    /// is less.
    public func stalled(after count: Int) -> StubResponse {
        adding(.stall, at: max(0, count))
    }
}

// MARK: - Speed

extension StubResponse {
    /// The transfer rate of a response.
    ///
    /// The presets are the nominal rates of common kinds of networks, in kilobits per second:
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
        /// The rate in bytes per second; at least 1.
        public let bytesPerSecond: Int

        /// Creates a speed from a rate in bytes per second; values below 1 count as 1.
        public init(bytesPerSecond: Int) {
            self.bytesPerSecond = max(1, bytesPerSecond)
        }

        /// Creates a speed from a rate in kilobits (1,000 bits) per second; values below 1 count as 1.
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

        /// The size of a fragment: the bytes that are delivered in a twentieth of a second.
        var bytesPerFragment: Int { max(1, bytesPerSecond / 20) }

        /// Returns the time that `count` bytes take.
        func duration(of count: Int) -> Duration {
            .seconds(count) / bytesPerSecond
        }
    }
}
