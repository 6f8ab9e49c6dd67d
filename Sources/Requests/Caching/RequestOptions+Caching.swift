// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestOptions {
    // Unlike `nil`, `standard` replaces the policy of the request that this one is made of. The fingerprint has the
    // resolved policy.
    private enum Caching: RequestOption {
        static let unset: ResponseCache.Policy? = nil
        static let isPartOfFingerprint = false
    }

    /// The request's use of the environment's cache; by default as HTTP defines it.
    ///
    /// With `.none`, a cache of the transport isn't used either.
    public var caching: ResponseCache.Policy {
        get { self[Caching.self] ?? .standard }
        set { self[Caching.self] = newValue }
    }

    /// Makes a request bypass a cache of the transport, if these options say so.
    func apply(to request: inout HTTPRequest) {
        guard caching == .none else { return }
        switch request.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            request.cachePolicy = .reloadIgnoringLocalCacheData
        default: break  // These pass by the cache already, or forbid to send.
        }
    }
}
