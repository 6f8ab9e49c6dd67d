// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rule for finding the next page of a list, for ``RequestQueue/pages(_:by:prefetching:session:)``.
///
/// | the server says | write |
/// |---|---|
/// | `Link: </repos?page=2>; rel="next"` | ``links``, the default |
/// | `{"next": "https://api.example.com/repos?page=2", …}` | `.following(\.body.next)` |
/// | `{"nextCursor": "b7f", …}` | `.cursor(\.body.nextCursor, parameter: "cursor")` |
/// | nothing: pages are counted | `.next { page, request in … }` |
///
/// Pages that a response names get the credentials of the first one only at its origin; see <doc:Paging>. A request
/// that ``next(_:)`` makes is the caller's own in every respect.
public struct Pagination<R: NetworkRequest>: Sendable {
    /// The step after a page.
    enum Step: Sendable {
        /// There is no further page.
        case end
        /// A page at an address, relative to that of the response.
        case address(String)
        /// A page with a query parameter.
        case query(Query.Item)
        /// A page with a request of its own.
        case request(R)
    }

    let step: @Sendable (HTTPResponse<R.Success>, R) throws -> Step

    /// The next page is given by a `Link` field of the response with the relation `next` (RFC 8288).
    public static var links: Pagination { links("next") }

    /// The next page is given by a `Link` field of the response with another relation, such as `prev`.
    public static func links(_ relation: String) -> Pagination {
        Pagination { page, _ in
            let link = page.links.first { $0.isOfResponse && $0.relations.contains(relation.lowercasedASCII) }
            return link.map { .address($0.target) } ?? .end
        }
    }

    /// The next page is at an address in the response.
    ///
    /// For an address in JSON, prefer a `String`: a decoder that makes a `URL` may escape what is escaped already.
    ///
    /// - Parameter address: Reads the address, which may be relative; `nil` on the last page. An error that it throws
    ///   ends the pages.
    /// - Returns: The rule.
    public static func following(
        _ address: @escaping @Sendable (HTTPResponse<R.Success>) throws -> URL?
    ) -> Pagination {
        Pagination { page, _ in try address(page).map { .address($0.absoluteString) } ?? .end }
    }

    /// The next page is at an address in the response, which is a text.
    ///
    /// - Parameter address: Reads the address, which may be relative; `nil`, or an empty text, on the last page. An
    ///   error that it throws ends the pages.
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

    /// The next page is given by a query parameter, whose value is in the response.
    ///
    /// ```swift
    /// client.pages(Get<Listing>("items"), by: .cursor(\.body.nextCursor, parameter: "cursor"))
    /// ```
    ///
    /// - Parameters:
    ///   - cursor: Reads the value; `nil`, or an empty text, on the last page. An error that it throws ends the pages.
    ///   - name: The name of the parameter; it replaces all of that name, whether they are in the address or in the
    ///     query of the request or of its client.
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

    /// The next page is requested by a request that a closure makes.
    ///
    /// ```swift
    /// client.pages(SearchRequest(text: "soup", offset: 0), by: .next { page, request in
    ///     page.body.isEmpty ? nil : SearchRequest(text: request.text, offset: request.offset + page.body.count)
    /// })
    /// ```
    ///
    /// - Parameter makeRequest: Makes the request, from a page and the request for it; `nil` on the last page. An error
    ///   that it throws ends the pages.
    /// - Returns: The rule.
    public static func next(
        _ makeRequest: @escaping @Sendable (HTTPResponse<R.Success>, R) throws -> R?
    ) -> Pagination {
        Pagination { page, request in try makeRequest(page, request).map { .request($0) } ?? .end }
    }
}
