// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest: RequestConvertible, ModifiableRequest {
    /// The content of the response.
    public typealias Success = Data
    /// The library's own error.
    public typealias Failure = RequestError

    /// The request itself.
    public var http: HTTPRequest {
        get { self }
        set { self = newValue }
    }

    /// The same request, with a way to make a value of the answer.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<HTTPRequest, Value> {
        TypedRequest(self, decoding: decoder)
    }
}

extension RequestConvertible {
    /// The request as it would be sent now: address, fields, credentials and content.
    ///
    /// - Throws: ``InvalidRequest``, and what the body or the authentication throws.
    func prepared(baseURL: URL?) throws -> HTTPRequest {
        var environment = RequestEnvironment()
        environment.baseURL = baseURL
        var request = http
        request.accept(responseDecoder.accepted, unless: [])
        let implied = try request.inherit(environment)
        try request.authentication.authenticate(&request)
        try request.resolve(baseURL: baseURL, inheriting: [])
        try request.resolveBody(implied: implied)
        try request.validate()
        return request
    }
}

extension HTTPRequest {
    /// Asks for what the caller can read, unless somebody has asked already.
    mutating func accept(_ types: [MediaType], unless inherited: HTTPHeaders) {
        guard !types.isEmpty, !headers.contains(.accept), !inherited.contains(.accept) else { return }
        headers.add(.accept(types))
    }
}
