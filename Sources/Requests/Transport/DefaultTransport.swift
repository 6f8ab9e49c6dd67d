// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The transport of requests that name none: the best that the platform has.
///
/// On Apple platforms that is `URLSession.shared`. On Linux it is a session of the library's own, set up so that none of
/// the faults that can be kept out are there; ``URLSessionTransport`` lists them.
public enum DefaultTransport {
    /// The one of the process.
    public static let shared: any HTTPTransport = {
        #if canImport(FoundationNetworking)
        URLSessionTransport(configuration: .ephemeral)
        #else
        URLSession.shared
        #endif
    }()
}
