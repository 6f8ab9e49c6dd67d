// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The transports of the tests: each way to pass a session to a queue, and each transport.
///
/// Most tests of this target take one as their argument, so that a new transport is one new case here. The environment
/// variable `REQUESTS_TRANSPORT` selects the transports of a run, separated by commas; `urlsession` selects all that
/// use a `URLSession`.
enum TransportUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// No session is passed: the best transport of the platform is used.
    case standard = "default"
    /// A `URLSession` of the caller.
    case injectedSession = "session"
    /// `URLSession.shared`, written `.shared`.
    case sharedSession = "shared"
    /// A transport with a configuration.
    case configuration = "configuration"

    /// The transports that `REQUESTS_TRANSPORT` names; `nil` if it isn't set.
    private static let named: [TransportUnderTest]? = {
        guard let list = ProcessInfo.processInfo.environment["REQUESTS_TRANSPORT"] else { return nil }
        var names = list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if names.contains("urlsession") { names += [injectedSession, sharedSession, configuration].map(\.rawValue) }
        return allCases.filter { names.contains($0.rawValue) }
    }()

    /// The transports of most tests: the default one and a session, or all of them in a full run.
    static let all: [TransportUnderTest] = named ?? Scale.pick([.standard, .injectedSession], whole: allCases)

    /// The transports with a configuration of the caller, at every scale.
    static let configurable = only(.injectedSession, .configuration)

    /// The given transports, at every scale, unless `REQUESTS_TRANSPORT` leaves them out.
    static func only(_ transports: TransportUnderTest...) -> [TransportUnderTest] {
        transports.filter { named?.contains($0) ?? true }
    }

    /// Whether the faults apply that ``URLSessionTransport`` documents as unfixable.
    var runsOverURLSessionOfLinux: Bool {
        #if canImport(FoundationNetworking)
        self != .standard
        #else
        false
        #endif
    }

    /// Returns the argument `session` of a test. A configurable one is configured, and is new for every call.
    func makeSession(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> (any HTTPTransport)? {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        switch self {
        case .standard: return nil
        case .injectedSession: return URLSession(configuration: configuration)
        case .sharedSession: return .shared
        case .configuration: return URLSessionTransport(configuration: configuration)
        }
    }

    var testDescription: String { rawValue }
}
