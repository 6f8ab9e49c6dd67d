// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension InterceptorChain {
    /// Information about an operation for its interceptors.
    public struct Context: Sendable {
        let run: any InterceptedRun
        /// The number of the attempt, starting at 1; redirects don't start a new attempt.
        public let attempt: Int
        private let details: Details?

        /// Rarely used properties, boxed because contexts are copied often.
        private final class Details: Sendable {
            let request: HTTPRequest?
            let defaultProbe: DefaultProbe?

            init(_ request: HTTPRequest?, _ defaultProbe: DefaultProbe?) {
                (self.request, self.defaultProbe) = (request, defaultProbe)
            }
        }

        init(
            _ run: any InterceptedRun,
            attempt: Int,
            request: HTTPRequest? = nil,
            noting defaultProbe: DefaultProbe? = nil
        ) {
            (self.run, self.attempt) = (run, attempt)
            details = request == nil && defaultProbe == nil ? nil : Details(request, defaultProbe)
        }

        /// Creates a context, to test an interceptor.
        ///
        /// - Parameters:
        ///   - identifier: The identifier of the request.
        ///   - attempt: The number of the attempt, starting at 1.
        ///   - baseURL: The URL that relative addresses are appended to; `nil` by default.
        ///   - request: The request, for ``Interceptor/retry(_:context:)`` and ``Interceptor/transform(_:context:)``.
        ///   - userInfo: The application's data about the request.
        public init(
            identifier: String,
            attempt: Int,
            baseURL: URL? = nil,
            request: HTTPRequest? = nil,
            userInfo: HTTPRequest.UserInfo = HTTPRequest.UserInfo()
        ) {
            let settings = InterceptedSettings(baseURL: baseURL, userInfo: userInfo)
            self.init(StubRun(identifier, settings), attempt: attempt, request: request)
        }

        /// The identifier of the request.
        ///
        /// The identifier may be computed at each access; for a ready-made request, it is a digest of everything that
        /// is sent.
        public var identifier: String { run.identifier ?? "" }

        /// The base URL of the operation's environment; `nil` if it has none.
        ///
        /// Credentials that the request itself doesn't contain may only be sent to the origin of this URL.
        public var baseURL: URL? { run.settings.baseURL }

        /// The request that the interceptor's method is called for; `nil` in ``Interceptor/adapt(_:context:)``, which
        /// receives it as an argument.
        ///
        /// In ``Interceptor/intercept(_:context:next:)``, this is the request to send. In
        /// ``Interceptor/retry(_:context:)``, it is the request that would be sent again, as it was before redirects.
        /// In ``Interceptor/transform(_:context:)``, it is the last request after redirects.
        public var request: HTTPRequest? { details?.request }

        /// Records that a default implementation was called, for `urlRequest(for:)`.
        func markDefaultImplementation() { details?.defaultProbe?.markCalled() }

        /// The application's data about the request, typed by key.
        public var userInfo: HTTPRequest.UserInfo { run.settings.userInfo }

        /// The refreshes that wait for this operation; to avoid a deadlock, the operation must not wait for them.
        var enclosingRefreshes: Set<ObjectIdentifier> { scope?.enclosingRefreshes ?? [] }
        /// The context of nested work that the operation belongs to; `nil` if it isn't nested.
        var scope: NestingContext? { run.settings.scope }
        /// Creates the JSON encoder for bodies that don't specify one; `nil` means a default encoder.
        var makeEncoder: (@Sendable () -> JSONEncoder)? { run.settings.makeEncoder }
        /// The values that interceptors have stored for the operation.
        var notes: InterceptorNotes { run.notes }

        /// Sends a request for the operation, and returns its response.
        ///
        /// Use this method if an interceptor needs a response before it can continue, such as a token, a nonce or a
        /// configuration. The request runs in the operation's environment and over its transport. It bypasses the queue
        /// and needs no slot there, because the waiting operation already occupies one. The interceptor that sends the
        /// request isn't applied to it. The same applies to requests that the interceptor adds to a client or an
        /// `OperationQueue` while it runs. However, an interceptor that is a struct can't be identified there, and must
        /// itself ignore the requests that it adds.
        ///
        /// Of the request's ``RequestOptions``, only the user info is used. Requests can be nested up to eight levels
        /// deep. Cancelling the operation cancels its nested requests.
        ///
        /// - Parameter request: The request; a relative address is resolved against the operation's base URL.
        /// - Returns: The response, with an acceptable status.
        /// - Throws: A ``RequestError`` if the request fails; it has the code `nestingLimitReached` if the request is
        ///   nested too deeply.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
            try await run.exchange(request)
        }

        /// Reports to monitors that the operation is waiting for a credential.
        func beginAuthentication(_ step: Authorization.Step) { run.report(step, isGranted: nil) }

        /// Reports to monitors that the operation no longer waits for a credential, if it was waiting.
        func endAuthentication(_ step: Authorization.Step, isGranted: Bool) { run.report(step, isGranted: isGranted) }
    }
}

extension InterceptorChain.Context: CustomStringConvertible, CustomReflectable {
    /// The number of the attempt, and the request if there is one, without secrets.
    public var description: String { "attempt \(attempt)\(request.map { ": \($0)" } ?? "")" }

    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
