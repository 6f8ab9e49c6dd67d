// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a request with all modifiers is marked with.
package enum EveryModifier: HTTPRequest.UserInfo.Key {
    package static let defaultValue = "none"
}

extension ModifiableRequest {
    /// Returns a copy with all modifiers.
    package func withEveryModifier() -> Self {
        timeout(3).deadline(.seconds(9)).redirect(.follow(limit: 3)).trust(.system).retry(limit: 4).tag("t")
            .priority(.high).coalescing().condition(.condition { _ in }).validating { _ in }
            .intercepted(by: .adapting { _ in }).monitored(by: .events { _, _ in }).maximumBodySize(5)
            .maximumHeadSize(6).accepting(statusCodes: [200, 404]).acceptingAnyStatus().httpPriority(0.5)
            .bypassing(ClosureInterceptor.self).unauthenticated().headers(["X-M": "1"]).query(["m": "1"])
            .caching(.for(.seconds(7))).exclusive("disk").userInfo(EveryModifier.self, "profile").configuringTask { _ in
            }
            .options { options in
                options.timeout = .seconds(3)
                options.usesCookies = false
                options.sensitiveHeaders = ["X-M"]
                options.crossOriginHeaders = ["X-M"]
                options.omittedHeaders = ["X-N"]
            }
    }
}
