// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension OperationEvent {
    /// The description of an operation that an ``EventMonitor`` receives.
    ///
    /// Two values with the same ``id`` are equal, because they describe the same operation. A later value may contain
    /// more information.
    public struct Info: Sendable, Identifiable {
        /// The ID of the operation: a number that is unique in this process, and larger for later operations.
        public let id: UInt64
        /// The identifier of the request; empty before there is a request.
        ///
        /// The identifier may contain parts of the URL, so redact it before you show it.
        ///
        /// It is computed when it is first used. For a ready-made request, it is a digest of everything that is sent.
        public var identifier: String {
            get { lazyIdentifier?.value ?? eagerIdentifier }
            set { (eagerIdentifier, lazyIdentifier) = (newValue, nil) }
        }

        private var eagerIdentifier: String
        private var lazyIdentifier: LazyString?
        /// The display name of the request, if it has one.
        public var tag: String?
        /// The name of the request's type.
        public var requestType: String
        /// The application's data about the request.
        public var userInfo = HTTPRequest.UserInfo()

        /// Creates a description of an operation.
        ///
        /// - Parameters:
        ///   - id: The ID of the operation, for tests of monitors; by default, the next free ID.
        ///   - identifier: The identifier of the request; empty, the default, if there is no request yet.
        ///   - tag: The display name of the request.
        ///   - requestType: The name of the request's type.
        public init(id: UInt64? = nil, identifier: String = "", tag: String? = nil, requestType: String) {
            self.id = id ?? Self.nextID()
            eagerIdentifier = identifier
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

        /// Returns the description of another operation with the same request.
        func another() -> Info {
            var other = Info(tag: tag, requestType: requestType)
            (other.eagerIdentifier, other.lazyIdentifier, other.userInfo) = (eagerIdentifier, lazyIdentifier, userInfo)
            return other
        }

        /// Sets the identifier, the tag and the user info of the request, once there is a request.
        mutating func identify(
            by makeValue: @escaping @Sendable () -> String,
            tag: String?,
            userInfo: HTTPRequest.UserInfo
        ) {
            lazyIdentifier = LazyString(makeValue: makeValue)
            (self.tag, self.userInfo) = (tag, userInfo)
        }
    }
}

/// A string that is computed when it is first used, and that copies share.
private struct LazyString: Sendable {
    let makeValue: @Sendable () -> String
    let cachedValue = Locked<String?>(nil)

    var value: String {
        if let text = cachedValue.withLock({ $0 }) { return text }
        // Two threads may compute the string simultaneously; the results are equal.
        let text = makeValue()
        cachedValue.withLock { $0 = text }
        return text
    }
}

extension OperationEvent.Info: Hashable {
    /// Returns whether both values describe the same operation.
    public static func == (lhs: OperationEvent.Info, rhs: OperationEvent.Info) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension OperationEvent.Info: CustomStringConvertible {
    /// The ID, the type and the tag, such as `#3 GetUser “profile”`, on one line without secrets.
    public var description: String {
        let name = tag.map { " “\($0.shortened())”" } ?? ""
        return "#\(id) \(requestType.shortened())\(name)"
    }
}
