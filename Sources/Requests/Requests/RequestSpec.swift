// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A request of your own that is written down as one of the ready-made ones.
///
/// ```swift
/// struct GetUser: RequestSpec {
///     let id: Int
///     var request: Get<User> { Get("users", "\(id)").timeout(.seconds(10)) }
/// }
///
/// let user = try await queue.fetch(GetUser(id: 1))
/// ```
///
/// The type names the request; its properties are the parameters.
public protocol RequestSpec: RequestConvertible where Success == RequestType.Success {
    /// The request that this one is written down as.
    associatedtype RequestType: RequestConvertible
    /// What comes of the request; another name of `Success`.
    typealias ResponseBody = RequestType.Success

    /// The request, made of the parameters.
    var request: RequestType { get }
}

extension RequestSpec {
    /// That of request.
    public var http: HTTPRequest { request.http }
    /// That of request.
    public var responseDecoder: ResponseDecoder<RequestType.Success> { request.responseDecoder }
    /// Those of request.
    public var options: RequestOptions { request.options }
    /// Those of request.
    public var validHTTPStatusCodes: [Int] { request.validHTTPStatusCodes }
}
