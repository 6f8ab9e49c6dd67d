// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rule for finding the next page of a list, for ``RequestQueue/pages(_:by:prefetching:session:)``.
///
/// | response | rule |
/// |---|---|
/// | `Link: </repos?page=2>; rel="next"` | ``links``, the default |
/// | `{"next": "https://api.example.com/repos?page=2", …}` | `.following(\.body.next)` |
/// | `{"nextCursor": "b7f", …}` | `.cursor(\.body.nextCursor, parameter: "cursor")` |
/// | no link, because pages are numbered | `.next { page, request in … }` |
///
/// If a response names the next page, the first page's credentials are sent to it only if it has the same origin; see
/// <doc:Paging>. A request from ``next(_:)`` is treated like any request that you create yourself.
public struct Pagination<R: NetworkRequest>: Sendable {
    /// The step that follows a page.
    enum Step: Sendable {
        /// No further page.
        case end
        /// A page at a URL, which may be relative to the URL of the response.
        case address(String)
        /// A page whose URL differs in one query parameter.
        case query(Query.Item)
        /// A page with a separate request.
        case request(R)
    }

    let step: @Sendable (HTTPResponse<R.Success>, R) throws -> Step

    /// Finds the next page in the response's `Link` field with the relation `next` (RFC 8288).
    public static var links: Pagination { links("next") }

    /// Finds the next page in the response's `Link` field with the given relation, such as `prev`.
    public static func links(_ relation: String) -> Pagination {
        Pagination { page, _ in
            let link = page.links.first { $0.isOfResponse && $0.relations.contains(relation.lowercasedASCII) }
            return link.map { .address($0.target) } ?? .end
        }
    }

    /// Finds the next page at a URL from the response.
    ///
    /// For a URL in JSON, prefer a `String`, because a decoder that creates a `URL` may escape characters twice.
    ///
    /// - Parameter address: Returns the URL, which may be relative; `nil` on the last page. An error that it throws
    ///   ends the pages.
    /// - Returns: The rule.
    public static func following(
        _ address: @escaping @Sendable (HTTPResponse<R.Success>) throws -> URL?
    ) -> Pagination {
        Pagination { page, _ in try address(page).map { .address($0.absoluteString) } ?? .end }
    }

    /// Finds the next page at a URL from the response, given as a string.
    ///
    /// - Parameter address: Returns the URL, which may be relative; `nil` or an empty string on the last page. An error
    ///   that it throws ends the pages.
    /// - Returns: The rule.
    @_disfavoredOverload
    public static func following(
        _ address: @escaping @Sendable (HTTPResponse<R.Success>) throws -> String?
    ) -> Pagination {
        Pagination { page, _ in
            guard let address = try address(page), !address.isEmpty else { return .end }
            return .address(address)
        }
    }

    /// Finds the next page with a query parameter, whose value is in the response.
    ///
    /// ```swift
    /// client.pages(Get<Listing>("items"), by: .cursor(\.body.nextCursor, parameter: "cursor"))
    /// ```
    ///
    /// - Parameters:
    ///   - cursor: Returns the value; `nil` or an empty string on the last page. An error that it throws ends the
    ///     pages.
    ///   - name: The name of the parameter. It replaces all parameters of that name in the URL and in the queries of
    ///     the request and its client.
    /// - Returns: The rule.
    public static func cursor(
        _ cursor: @escaping @Sendable (HTTPResponse<R.Success>) throws -> (some Query.ValueConvertible)?,
        parameter name: String
    ) -> Pagination {
        Pagination { page, _ in
            guard let value = try cursor(page)?.queryValue, !value.isEmpty else { return .end }
            return .query(Query.Item(name, value: value))
        }
    }

    /// Finds the next page with a request that a closure creates.
    ///
    /// ```swift
    /// client.pages(SearchRequest(text: "soup", offset: 0), by: .next { page, request in
    ///     page.body.isEmpty ? nil : SearchRequest(text: request.text, offset: request.offset + page.body.count)
    /// })
    /// ```
    ///
    /// - Parameter makeRequest: Creates the request from a page and its request; returns `nil` on the last page. An
    ///   error that it throws ends the pages.
    /// - Returns: The rule.
    public static func next(
        _ makeRequest: @escaping @Sendable (HTTPResponse<R.Success>, R) throws -> R?
    ) -> Pagination {
        Pagination { page, request in try makeRequest(page, request).map { .request($0) } ?? .end }
    }
}
