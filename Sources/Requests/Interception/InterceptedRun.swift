// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What an operation does for the interceptors of its run.
///
/// A protocol, because interceptors are in a lower layer than the engine.
protocol InterceptedRun: AnyObject, Sendable {
    /// The identifier of the request; `nil` before it was created.
    var identifier: String? { get }
    var settings: InterceptedSettings { get }
    /// The values that interceptors have stored for the run.
    var notes: InterceptorNotes { get }
    /// The priority of the operation, for limiters.
    var urgency: Int { get }

    func report(_ step: Authorization.Step, isGranted: Bool?)
    /// Records that a request was answered without a transfer.
    func recordCachedResponse(to request: HTTPRequest)
    /// Sends a request for the operation, and returns its response.
    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data>
    /// Sends a request in an operation of its own, which may outlive this one and has its options.
    ///
    /// - Parameters:
    ///   - name: The name of the purpose; only one operation of this name runs at a time for an address.
    ///   - request: The request.
    ///   - interceptor: The first interceptor that it passes.
    ///   - next: The chain whose interceptors it passes after that.
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
    /// The maximum time without data for requests that have none of their own; `nil` lets the transport decide.
    var timeout: Duration?
    var makeEncoder: (@Sendable () -> JSONEncoder)?
    /// The work for which the operation runs; `nil` if it runs on its own.
    var scope: NestingContext?
}

/// A run that sends nothing, for contexts of tests.
final class StubRun: InterceptedRun {
    let identifier: String?
    let settings: InterceptedSettings
    let notes = InterceptorNotes()

    init(_ identifier: String = "", _ settings: InterceptedSettings = InterceptedSettings()) {
        (self.identifier, self.settings) = (identifier, settings)
    }

    var urgency: Int { 0 }

    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        throw RequestError(.unsupported, phase: .building, reason: "the context of a test sends nothing")
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
