// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The interface that an operation provides to its interceptors.
///
/// This is a protocol, because interceptors are in a lower layer than the engine.
protocol InterceptedRun: AnyObject, Sendable {
    /// The identifier of the request; `nil` until the request has been created.
    var identifier: String? { get }
    var settings: InterceptedSettings { get }
    /// The values that interceptors have stored for the run.
    var notes: InterceptorNotes { get }
    /// The priority of the operation, for limiters.
    var urgency: Int { get }

    func report(_ step: Authorization.Step, isGranted: Bool?)
    /// Records that a request received its response without a transfer.
    func recordCachedResponse(to request: HTTPRequest)
    /// Sends a request for the operation, and returns the response.
    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data>
    /// Sends a request in a separate operation, which may outlive this one and has the same options.
    ///
    /// - Parameters:
    ///   - name: The name of the purpose. For each address, only one operation with this name runs at a time.
    ///   - request: The request.
    ///   - interceptor: The first interceptor that the request passes through.
    ///   - next: The chain whose remaining interceptors the request then passes through.
    func sendDetached(
        _ name: String,
        _ request: HTTPRequest,
        through interceptor: any Interceptor,
        before next: InterceptorChain
    )
}

/// The settings of a run that interceptors may use.
struct InterceptedSettings: Sendable {
    var baseURL: URL?
    var userInfo = HTTPRequest.UserInfo()
    /// The idle timeout for requests that don't set one; if this is `nil`, the transport decides.
    var timeout: Duration?
    var makeEncoder: (@Sendable () -> JSONEncoder)?
    /// The context of nested work that the operation belongs to; `nil` if it isn't nested.
    var scope: NestingContext?
}

/// A run that sends nothing, for contexts in tests.
final class StubRun: InterceptedRun {
    let identifier: String?
    let settings: InterceptedSettings
    let notes = InterceptorNotes()

    init(_ identifier: String = "", _ settings: InterceptedSettings = InterceptedSettings()) {
        (self.identifier, self.settings) = (identifier, settings)
    }

    var urgency: Int { 0 }

    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        throw RequestError(.unsupported, phase: .building, reason: "a test's context can't send requests")
    }

    func report(_ step: Authorization.Step, isGranted: Bool?) {}
    func recordCachedResponse(to request: HTTPRequest) {}

    func sendDetached(
        _ name: String,
        _ request: HTTPRequest,
        through interceptor: any Interceptor,
        before next: InterceptorChain
    ) {}
}
