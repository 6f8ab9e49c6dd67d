// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseValidator where Self == ClosureValidator {
    /// Returns a validator that decodes an API's JSON error responses as an error type of your own.
    ///
    /// ```swift
    /// struct APIError: Error, Decodable { let message: String }
    /// environment.validators.append(.errors(APIError.self))
    /// // …
    /// catch { print(error.failure(as: APIError.self)?.message ?? "no idea") }
    /// ```
    ///
    /// Only responses with a status that the request doesn't accept are decoded. If decoding fails, the request fails
    /// with `unacceptableStatus`, as it would without this validator.
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - decoder: Creates the decoder; by default, the environment's decoder is used.
    /// - Returns: The validator.
    public static func errors<Failure: Error & Decodable>(
        _ type: Failure.Type,
        decoder: (@Sendable () -> JSONDecoder)? = nil
    ) -> ClosureValidator {
        errors { try $0.decodeJSON(type, using: decoder?()) }
    }

    /// Returns a validator that creates an error of your own type from an API's error response.
    ///
    /// - Parameter decode: Returns the error. If it throws, the response is left to the other validators.
    /// - Returns: The validator.
    public static func errors<Failure: Error>(
        _ decode: @escaping @Sendable (HTTPResponse<Data>) throws -> Failure
    ) -> ClosureValidator {
        ClosureValidator { response, context in
            guard !context.accepts(response.status), let error = try? decode(response) else { return .accept }
            return .fail(error)
        }
    }
}

extension RequestError {
    /// Returns the underlying error of this type; `nil` if there is none.
    ///
    /// ```swift
    /// if let refusal = error.failure(as: APIError.self) { … }
    /// ```
    public func failure<Failure: Error>(as type: Failure.Type = Failure.self) -> Failure? {
        var error = underlying
        while let current = error {
            if let match = current as? Failure { return match }
            error = (current as? RequestError)?.underlying
        }
        return nil
    }
}
