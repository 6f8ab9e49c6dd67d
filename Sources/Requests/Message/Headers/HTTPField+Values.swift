// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The fields in everyday use, made of what they mean.
extension HTTPField {
    /// The media type of the content.
    public static func contentType(_ type: MediaType) -> HTTPField { HTTPField(.contentType, type) }

    /// How the content is to be presented, with the suggested name of a file.
    public static func contentDisposition(_ disposition: ContentDisposition) -> HTTPField {
        HTTPField(.contentDisposition, disposition)
    }

    /// The length of the content, in bytes.
    ///
    /// Not needed in a request: the transport knows the length of the body, and one that differs is refused.
    public static func contentLength(_ length: Int64) -> HTTPField { HTTPField(.contentLength, length) }

    /// The codings that were applied to the content, in the order in which they were.
    public static func contentEncoding(_ codings: String...) -> HTTPField {
        HTTPField(.contentEncoding, codings.joined(separator: ", "))
    }

    /// The language of the content.
    public static func contentLanguage(_ locale: Locale) -> HTTPField { HTTPField(.contentLanguage, locale) }

    /// The credentials of the caller.
    public static func authorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.authorization, authorization)
    }

    /// The credentials for a proxy.
    public static func proxyAuthorization(_ authorization: Authorization) -> HTTPField {
        HTTPField(.proxyAuthorization, authorization)
    }

    /// A token that whoever bears it may use, in `Authorization` (RFC 6750).
    public static func bearerToken(_ token: String) -> HTTPField { authorization(.bearer(token)) }

    /// A user's name and password, in `Authorization` (RFC 7617).
    public static func basicAuth(username: String, password: String) -> HTTPField {
        authorization(.basic(username: username, password: password))
    }

    /// A token of OAuth, in `Authorization`, under the scheme `OAuth`.
    public static func oauth(_ token: String) -> HTTPField { authorization(.oauth(token)) }

    /// The key of the caller, in `X-API-Key`.
    public static func apiKey(_ key: String) -> HTTPField { HTTPField(.apiKey, key) }

    /// The program that makes the request, such as `Recipes/2.1`.
    public static func userAgent(_ userAgent: String) -> HTTPField { HTTPField(.userAgent, userAgent) }

    /// How the message may be cached.
    public static func cacheControl(_ control: CacheControl) -> HTTPField { HTTPField(.cacheControl, control) }

    /// How the message may be cached.
    public static func cacheControl(_ directives: CacheControl.Directive...) -> HTTPField {
        cacheControl(CacheControl(directives))
    }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: Cookie...) -> HTTPField { cookie(cookies) }

    /// The cookies that the caller sends back.
    public static func cookie(_ cookies: [Cookie]) -> HTTPField {
        HTTPField(
            .cookie,
            checked: { () throws(InvalidRequest) in
                var pairs: [String] = []
                for cookie in cookies { pairs.append(try cookie.validated().rawValue) }
                return pairs.joined(separator: "; ")
            }
        )
    }

    /// A cookie that the server sets.
    public static func setCookie(_ cookie: SetCookie) -> HTTPField { HTTPField(.setCookie, cookie) }

    /// When to try again.
    public static func retryAfter(_ retryAfter: RetryAfter) -> HTTPField { HTTPField(.retryAfter, retryAfter) }

    /// When the message was made.
    public static func date(_ date: Date) -> HTTPField { HTTPField(.date, date) }

    /// The resource that led to the request; without its user, password and fragment, which nobody else may see.
    public static func referer(_ url: URL) -> HTTPField {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        components?.fragment = nil
        let text = components?.string
        return HTTPField(
            .referer,
            checked: { () throws(InvalidRequest) in
                guard let text else { throw InvalidRequest(.headerValue, "of Referer isn't an address") }
                return text
            }
        )
    }

    /// What makes the server take a repeated request for the same one; a new one by default.
    ///
    /// A request that has it stays the same over its retries, so make it once for each thing that is to happen once.
    public static func idempotencyKey(_ key: String = UUID().uuidString) -> HTTPField {
        HTTPField(.idempotencyKey, key)
    }
}
