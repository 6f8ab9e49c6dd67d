// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A request type of your own that is defined by another request, such as a ready-made request.
///
/// ```swift
/// struct GetUser: RequestSpec {
///     let id: Int
///     var request: Get<User> { Get("users/\(id)").timeout(.seconds(10)) }
/// }
///
/// let user = try await queue.fetch(GetUser(id: 1))
/// ```
///
/// The type gives the request its name, and its properties are the parameters.
public protocol RequestSpec: RequestConvertible where Success == RequestType.Success {
    /// The type of the request that this request is built from.
    associatedtype RequestType: RequestConvertible
    /// The type of the request's value; a synonym of `Success`.
    typealias ResponseBody = RequestType.Success

    /// The request, created from the parameters.
    var request: RequestType { get }
}

extension RequestSpec {
    /// The HTTP request of `request`.
    public var http: HTTPRequest { request.http }
    /// The decoder of `request`.
    public var responseDecoder: ResponseDecoder<RequestType.Success> { request.responseDecoder }
    /// The options of the type, combined with the options of `request`.
    public var resolvedOptions: RequestOptions { options.over(request.resolvedOptions) }
}

extension RequestSpec where ValidHTTPStatusCodes == [Int] {
    /// The accepted statuses of `request`.
    public var validHTTPStatusCodes: [Int] { request.validStatusCodes }
}
