// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds the cookies for an address, and stores those of each response as soon as its head is there.
struct CookieLink: Interceptor {
    let cookies: any CookieStorage

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let complete = request.addingCookies(of: cookies) ?? request
        return try await next(complete) { [cookies, url = complete.url] head in cookies.store(head, from: url) }
    }
}

extension HTTPRequest {
    /// The request with the cookies for its address beside those that it has, which take precedence over any of the same
    /// name; nil if there are none.
    fileprivate func addingCookies(of storage: any CookieStorage) -> HTTPRequest? {
        guard let field = storage.field(for: url) else { return nil }
        var request = self
        request.add(field)
        return request
    }

    private mutating func add(_ field: HTTPField) {
        let own = headers[values: .cookie]
        guard !own.isEmpty else { return headers.add(field) }
        let names = Set(own.flatMap { Cookie.list(parsing: $0) }.map(\.name))
        let others = Cookie.list(parsing: field.value).filter { !names.contains($0.name) }.map(\.rawValue)
        headers.set(HTTPField(.cookie, (own + others).joined(separator: "; ")))
    }
}
