// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TypedRequest where Tag: RequestMethod {
    /// Makes a request for an address as it is, such as one that a server gave.
    ///
    /// ```swift
    /// let owner = try await client.fetch(Get<User>(repo.ownerURL))
    /// ```
    ///
    /// An absolute address bypasses the base URL. It gets what the client has for every request, but the client's
    /// credentials and query parameters only at the origin of the base URL. A relative one is appended to the base URL.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - decoder: Makes the value of the response.
    public init(_ url: URL, decoding decoder: ResponseDecoder<Success>) {
        self.init(HTTPRequest(url: url, method: Tag.method), decoding: decoder)
    }
}

extension TypedRequest where Tag: RequestMethod, Success: Decodable {
    /// Makes a request for an address, whose response is JSON; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .json) }
}

extension TypedRequest where Tag: RequestMethod, Success == String {
    /// Makes a request for an address, whose response is text; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .text) }
}

extension TypedRequest where Tag: RequestMethod, Success == Data {
    /// Makes a request for an address, whose response is left as it is; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .data) }
}

extension TypedRequest where Tag: RequestMethod, Success == Void {
    /// Makes a request for an address, whose response has no content that matters; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .none) }
}

extension TypedRequest where Tag: RequestMethod, Success: HTTPDecodableResponse {
    /// Makes a request for an address, whose response decodes itself; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .custom) }
}

extension TypedRequest where Tag: RequestMethod, Success: Decodable & HTTPDecodableResponse {
    /// Makes a request for an address, whose response decodes itself; see `init(_:decoding:)`.
    public init(_ url: URL) { self.init(url, decoding: .custom) }
}
