// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension OperationEvent {
    /// An operation, as an ``EventMonitor`` sees it.
    ///
    /// Two are equal if their ``id`` is: they are the same operation, about which more may be known later.
    public struct Info: Sendable, Identifiable {
        /// A unique number in this process; later operations have larger ones.
        public let id: UInt64
        /// The identifier of the request; empty before there is a request.
        ///
        /// It may contain parts of the address: redact it before you show it.
        ///
        /// It is computed at its first use: for a ready-made request it is a digest of all that is sent.
        public var identifier: String {
            get { lazyIdentifier?.value ?? text }
            set { (text, lazyIdentifier) = (newValue, nil) }
        }

        private var text: String
        private var lazyIdentifier: LazyText?
        /// The name of the request for display, if it has one.
        public var tag: String?
        /// The name of the request's type.
        public var requestType: String
        /// The application's data about the request.
        public var userInfo = HTTPRequest.UserInfo()

        /// Makes a description of an operation.
        ///
        /// - Parameters:
        ///   - id: The number of the operation; by default the next free one, and a given one for tests of monitors.
        ///   - identifier: The identifier of the request; empty, the default, if there is no request yet.
        ///   - tag: The name of the request for display.
        ///   - requestType: The name of the request's type.
        public init(id: UInt64? = nil, identifier: String = "", tag: String? = nil, requestType: String) {
            self.id = id ?? Self.nextID()
            text = identifier
            self.tag = tag
            self.requestType = requestType
        }

        private static let lastID = Locked<UInt64>(0)

        private static func nextID() -> UInt64 {
            lastID.withLock { last in
                last += 1
                return last
            }
        }

        /// Another operation, of the same request.
        func another() -> Info {
            var other = Info(tag: tag, requestType: requestType)
            (other.text, other.lazyIdentifier, other.userInfo) = (text, lazyIdentifier, userInfo)
            return other
        }

        /// Sets the identity of the request, once there is one.
        mutating func identify(
            by make: @escaping @Sendable () -> String,
            tag: String?,
            userInfo: HTTPRequest.UserInfo
        ) {
            lazyIdentifier = LazyText(make: make)
            (self.tag, self.userInfo) = (tag, userInfo)
        }
    }
}

/// A text that is made at its first use; copies share it.
private struct LazyText: Sendable {
    let make: @Sendable () -> String
    let made = Locked<String?>(nil)

    var value: String {
        if let text = made.withLock({ $0 }) { return text }
        // Two threads at once may both make it; the results are equal.
        let text = make()
        made.withLock { $0 = text }
        return text
    }
}

extension OperationEvent.Info: Hashable {
    /// Whether both are the same operation.
    public static func == (lhs: OperationEvent.Info, rhs: OperationEvent.Info) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension OperationEvent.Info: CustomStringConvertible {
    /// The number, the type and the tag, such as `#3 GetUser “profile”`, in one line without secrets.
    public var description: String {
        let name = tag.map { " “\($0.shortened())”" } ?? ""
        return "#\(id) \(requestType.shortened())\(name)"
    }
}
