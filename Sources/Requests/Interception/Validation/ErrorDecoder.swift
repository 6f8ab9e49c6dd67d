// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes an error of your own of the content that an API answers with when it refuses a request.
///
/// ```swift
/// struct APIError: Error, Decodable { let message: String }
/// environment.validators.append(.errors(APIError.self))
/// // …
/// catch { print(error.failure(as: APIError.self)?.message ?? "no idea") }
/// ```
///
/// Only responses with a status that the request doesn't accept are looked at. Content that can't be decoded is no
/// reason to lose the status: then the failure is `unacceptableStatus`, as without this.
public struct ErrorDecoder<Failure: Error>: ResponseValidator {
    private let make: @Sendable (HTTPResponse<Data>) throws -> Failure

    /// Makes a validator of a closure; what that throws means that the content isn't such an error.
    public init(_ decode: @escaping @Sendable (HTTPResponse<Data>) throws -> Failure) {
        make = decode
    }

    /// Fails a status that isn't an answer with the error that the content says; one whose content doesn't say it is
    /// left to others.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> Verdict {
        guard !context.accepts(response.status), let error = try? make(response) else { return .accept }
        return .fail(error)
    }
}

extension ErrorDecoder where Failure: Decodable {
    /// Makes a validator that decodes JSON, by a decoder of your own or that of the environment.
    public init(_ type: Failure.Type = Failure.self, decoder: (@Sendable () -> JSONDecoder)? = nil) {
        self.init { try $0.decodeJSON(type, using: decoder?()) }
    }
}

extension ResponseValidator {
    /// Makes errors of the JSON that an API answers with when it refuses a request.
    public static func errors<Failure: Error & Decodable>(_ type: Failure.Type) -> Self
    where Self == ErrorDecoder<Failure> {
        ErrorDecoder(type)
    }
}

extension RequestError {
    /// The error of this type that lies behind this one; nil where there is none.
    ///
    /// ```swift
    /// if let refusal = error.failure(as: APIError.self) { … }
    /// ```
    public func failure<Failure: Error>(as type: Failure.Type = Failure.self) -> Failure? {
        var error = underlying
        while let present = error {
            if let match = present as? Failure { return match }
            error = (present as? RequestError)?.underlying
        }
        return nil
    }
}
