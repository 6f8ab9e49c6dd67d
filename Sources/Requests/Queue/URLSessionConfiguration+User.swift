// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLSessionConfiguration {
    /// Takes out what says who the user is, for an environment to say it.
    func takeUser() -> (headers: HTTPHeaders, cookies: (any CookieStorage)?) {
        let user = (headers, cookies)
        httpAdditionalHeaders = nil
        httpCookieStorage = nil
        httpShouldSetCookies = false
        return user
    }

    private var cookies: (any CookieStorage)? {
        guard httpShouldSetCookies, let storage = FoundationCookieStorage(of: self) else { return nil }
        guard httpCookieStorage === HTTPCookieStorage.shared else { return storage }
        // What the whole process shares is no user's: a jar takes its place, where cookies are kept at all.
        return httpCookieAcceptPolicy == .never ? nil : CookieJar()
    }
}
