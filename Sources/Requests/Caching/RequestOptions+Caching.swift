// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestOptions {
    // Unlike `nil`, `standard` overrides the policy of the base request. This option isn't part of the fingerprint,
    // which contains the resolved policy instead.
    private enum Caching: RequestOption {
        static let unset: ResponseCache.Policy? = nil
        static let isPartOfFingerprint = false
    }

    /// The policy for using the environment's cache; by default, the rules of HTTP apply.
    ///
    /// With `.none`, the request also bypasses any cache of the transport.
    public var caching: ResponseCache.Policy {
        get { self[Caching.self] ?? .standard }
        set { self[Caching.self] = newValue }
    }

    /// Makes the request bypass any cache of the transport if the policy is `none`.
    func apply(to request: inout HTTPRequest) {
        guard caching == .none else { return }
        switch request.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            request.cachePolicy = .reloadIgnoringLocalCacheData
        default: break  // Already bypasses the cache, or forbids sending.
        }
    }
}
