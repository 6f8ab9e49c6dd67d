// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension InterceptorChain {
    /// The facts about an operation that its interceptors can read.
    public struct Context: Sendable {
        let run: any InterceptedRun
        /// The number of the attempt; 1 is the first, and followed redirects don't count.
        public let attempt: Int
        private let subject: Subject?

        /// Rarely used properties, boxed because contexts are copied often.
        private final class Subject: Sendable {
            let request: HTTPRequest?
            let defaultStep: DefaultProbe?

            init(_ request: HTTPRequest?, _ defaultStep: DefaultProbe?) {
                (self.request, self.defaultStep) = (request, defaultStep)
            }
        }

        init(
            _ run: any InterceptedRun,
            attempt: Int,
            request: HTTPRequest? = nil,
            noting defaultStep: DefaultProbe? = nil
        ) {
            (self.run, self.attempt) = (run, attempt)
            subject = request == nil && defaultStep == nil ? nil : Subject(request, defaultStep)
        }

        /// Makes a context, for tests of an interceptor.
        ///
        /// - Parameters:
        ///   - identifier: The identifier of the request.
        ///   - attempt: The number of the attempt; 1 is the first.
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
        /// It may be computed at each access: for a ready-made request it is a digest of all that is sent.
        public var identifier: String { run.identifier ?? "" }

        /// The base URL of the operation's environment; `nil` if it has none.
        ///
        /// Credentials that aren't a request's own belong to this origin, and to no other that a request may name.
        public var baseURL: URL? { run.settings.baseURL }

        /// The request that the method is about; `nil` in ``Interceptor/adapt(_:context:)``, which gets it as an
        /// argument.
        ///
        /// In ``Interceptor/intercept(_:context:next:)``, it is the request to send. For a retry, it is the request
        /// that would be sent again, whatever redirects it went through. For a response to be transformed, it is the
        /// request that the redirects have led to.
        public var request: HTTPRequest? { subject?.request }

        /// Records that a default implementation ran, for `urlRequest(for:)`.
        func markDefaultImplementation() { subject?.defaultStep?.reach() }

        /// The application's data about the request, typed by key.
        public var userInfo: HTTPRequest.UserInfo { run.settings.userInfo }

        /// The refreshes that wait for the operation; it must not wait for them.
        var refreshing: Set<ObjectIdentifier> { scope?.refreshes ?? [] }
        /// The work for which the operation runs; `nil` if it runs on its own.
        var scope: NestingContext? { run.settings.scope }
        /// Makes the JSON encoder for bodies without one of their own; `nil` takes a plain one.
        var makeEncoder: (@Sendable () -> JSONEncoder)? { run.settings.makeEncoder }
        /// The values that interceptors have stored for the operation.
        var notes: InterceptorNotes { run.notes }

        /// Sends a request on behalf of the operation, and returns its response.
        ///
        /// Use it if an interceptor needs a response before it can continue: a token, a nonce, a configuration. The
        /// request runs in the operation's environment, over its transport, and outside its queue: it needs no place
        /// there, since the waiting operation holds one. The interceptor that sends it isn't applied to it. The same
        /// applies to requests that are added to a client or an `OperationQueue` meanwhile. But there, interceptors
        /// that are structures can't be identified, and have to ignore their own requests.
        ///
        /// Of its ``RequestOptions``, only the user info counts. Such requests may be nested eight deep. Cancelling the
        /// operation cancels them.
        ///
        /// - Parameter request: The request; a relative address is resolved against the operation's base URL.
        /// - Returns: The response, with an acceptable status.
        /// - Throws: The failure of the request, a ``RequestError``; of code `nestingLimitReached` if it is nested too
        ///   deep.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
            try await run.exchange(request)
        }

        /// Reports to monitors that the operation waits for a credential.
        func beginAuthentication(_ step: Authorization.Step) { run.report(step, isGranted: nil) }

        /// Reports to monitors that the operation has stopped waiting for a credential, if it has waited.
        func endAuthentication(_ step: Authorization.Step, isGranted: Bool) { run.report(step, isGranted: isGranted) }
    }
}

extension InterceptorChain.Context: CustomStringConvertible, CustomReflectable {
    /// The number of the attempt, and the request if there is one, without secrets.
    public var description: String { "attempt \(attempt)\(request.map { ": \($0)" } ?? "")" }

    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
