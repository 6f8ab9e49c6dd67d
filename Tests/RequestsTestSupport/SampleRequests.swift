// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

package let home = URL(string: "https://example.com/recipes/1")!
/// The origins of the samples, for credentials of clients without a base URL.
package let sampleOrigins = ["https://example.com", "https://api.example.com"].compactMap { URL(string: $0) }

package typealias BuildCompletion = @Sendable (Result<URLRequest, any Error>) -> Void

package struct SampleError: Error, Equatable {
    package var name: String

    package init(name: String = "sample") {
        self.name = name
    }
}

/// A request for text with settable parts.
package struct TextRequest: DataRequest {
    package typealias Success = String
    package typealias Failure = RequestError

    package var identifier: String
    package var options: RequestOptions
    package var validHTTPStatusCodes: [Int]
    package var life: Census.Life?
    package var process: @Sendable (Data) throws -> String
    package var make: @Sendable (@escaping BuildCompletion) -> Void

    package init(
        identifier: String = "text",
        options: RequestOptions = RequestOptions(),
        validHTTPStatusCodes: [Int] = Array(200..<300),
        life: Census.Life? = nil,
        process: @escaping @Sendable (Data) throws -> String = { String(decoding: $0, as: UTF8.self) },
        make: @escaping @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) }
    ) {
        self.identifier = identifier
        self.options = options
        self.validHTTPStatusCodes = validHTTPStatusCodes
        self.life = life
        self.process = process
        self.make = make
    }

    package func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    package func processData(_ data: Data) throws -> String { try process(data) }
}

/// A request for text as a value of the pipeline.
package struct WireRequest: DataRequest {
    package typealias Success = String
    package typealias Failure = RequestError

    package var identifier: String
    package var options: RequestOptions
    package var validHTTPStatusCodes: [Int]
    package var http: HTTPRequest

    package init(
        identifier: String = "wire",
        options: RequestOptions = RequestOptions(),
        validHTTPStatusCodes: [Int] = Array(200..<300),
        http: HTTPRequest = HTTPRequest(url: home)
    ) {
        self.identifier = identifier
        self.options = options
        self.validHTTPStatusCodes = validHTTPStatusCodes
        self.http = http
    }

    package func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    package func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }
    package func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// A request that may fail with any error.
package struct UntypedRequest: DataRequest {
    package typealias Success = Data

    package var identifier: String
    package var make: @Sendable (@escaping BuildCompletion) -> Void
    package var process: @Sendable (Data) throws -> Data

    package init(
        identifier: String = "untyped",
        make: @escaping @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) },
        process: @escaping @Sendable (Data) throws -> Data = { $0 }
    ) {
        self.identifier = identifier
        self.make = make
        self.process = process
    }

    package func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    package func processData(_ data: Data) throws -> Data { try process(data) }
}

/// A request with its own error type.
package struct CustomFailureRequest: DataRequest {
    package typealias Success = Data

    package enum Failure: Error, Equatable {
        case library(RequestError.Code)
        case sample(String)
        case foreign
    }

    package var identifier: String
    package var make: @Sendable (@escaping BuildCompletion) -> Void
    package var process: @Sendable (Data) throws -> Data

    package init(
        identifier: String = "custom",
        make: @escaping @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) },
        process: @escaping @Sendable (Data) throws -> Data = { $0 }
    ) {
        self.identifier = identifier
        self.make = make
        self.process = process
    }

    package func mapError(_ error: any Error) -> Failure {
        switch error {
        case let error as RequestError: .library(error.code)
        case let error as SampleError: .sample(error.name)
        default: .foreign
        }
    }
    package func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    package func processData(_ data: Data) throws -> Data { try process(data) }
}
