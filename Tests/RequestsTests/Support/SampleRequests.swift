// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

let home = URL(string: "https://example.com/recipes/1")!

typealias BuildCompletion = @Sendable (Result<URLRequest, any Error>) -> Void

struct SampleError: Error, Equatable {
    var name = "sample"
}

/// A request for text with settable parts.
struct TextRequest: DataRequest {
    typealias Success = String
    typealias Failure = RequestError

    var identifier = "text"
    var options = RequestOptions()
    var validHTTPStatusCodes = Array(200..<300)
    var life: Census.Life?
    var process: @Sendable (Data) throws -> String = { String(decoding: $0, as: UTF8.self) }
    var make: @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) }

    func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    func processData(_ data: Data) throws -> String { try process(data) }
}

/// A request for text as a value of the pipeline.
struct WireRequest: DataRequest {
    typealias Success = String
    typealias Failure = RequestError

    var identifier = "wire"
    var options = RequestOptions()
    var validHTTPStatusCodes = Array(200..<300)
    var http = HTTPRequest(url: home)

    func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }
    func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// A request that may fail with any error.
struct UntypedRequest: DataRequest {
    typealias Success = Data

    var identifier = "untyped"
    var make: @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) }
    var process: @Sendable (Data) throws -> Data = { $0 }

    func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    func processData(_ data: Data) throws -> Data { try process(data) }
}

/// A request with its own error type.
struct CustomFailureRequest: DataRequest {
    typealias Success = Data

    enum Failure: Error, Equatable {
        case library(RequestError.Code)
        case sample(String)
        case foreign
    }

    var identifier = "custom"
    var make: @Sendable (@escaping BuildCompletion) -> Void = { $0(.success(URLRequest(url: home))) }
    var process: @Sendable (Data) throws -> Data = { $0 }

    func mapError(_ error: any Error) -> Failure {
        switch error {
        case let error as RequestError: .library(error.code)
        case let error as SampleError: .sample(error.name)
        default: .foreign
        }
    }
    func makeURLRequest(completion: @escaping BuildCompletion) { make(completion) }
    func processData(_ data: Data) throws -> Data { try process(data) }
}
