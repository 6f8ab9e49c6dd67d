// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseValidator where Self == ClosureValidator {
    /// Decodes the JSON with which an API explains why it refuses a request, as an error of your own.
    ///
    /// ```swift
    /// struct APIError: Error, Decodable { let message: String }
    /// environment.validators.append(.errors(APIError.self))
    /// // …
    /// catch { print(error.failure(as: APIError.self)?.message ?? "no idea") }
    /// ```
    ///
    /// Only responses with a status that the request doesn't accept are decoded. If the content can't be decoded, the
    /// failure is `unacceptableStatus`, as without this validator.
    ///
    /// - Parameters:
    ///   - type: The type of the error.
    ///   - decoder: Makes the decoder; by default that of the environment.
    /// - Returns: The validator.
    public static func errors<Failure: Error & Decodable>(
        _ type: Failure.Type,
        decoder: (@Sendable () -> JSONDecoder)? = nil
    ) -> ClosureValidator {
        errors { try $0.decodeJSON(type, using: decoder?()) }
    }

    /// Makes an error of your own of the response with which an API refuses a request.
    ///
    /// - Parameter decode: Returns the error; if it throws, the response is left to the other validators.
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
    /// The underlying error of this type; `nil` if there is no such error.
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
