// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

extension StubbedRequest {
    /// Takes over a request, and reads its content to the end; nil where the transfer was cancelled meanwhile.
    ///
    /// Files and streams are read on a thread that may block: a stream may be one that another task is writing to.
    ///
    /// - Throws: What can't be encoded, opened or read.
    static func reading(_ request: TransportRequest, for transfer: StubTransfer) async throws -> StubbedRequest? {
        var result = StubbedRequest(url: request.url, method: request.method, headers: request.headers)
        switch try request.body.resolved().content {
        case .none: break
        case .data(let data): result.body = data
        case .file(let url): result.body = try await onThread { try Data(contentsOf: url) }
        case .stream(let stream):
            guard let body = try await onThread({ try stream.read(while: { transfer.isRunning }) }) else { return nil }
            result.body = body
        }
        return result
    }

    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }
}

extension BodyStream {
    /// All that the stream gives; nil where the condition ceased to hold.
    ///
    /// - Throws: What opening or reading the stream throws.
    fileprivate func read(while isWanted: () -> Bool) throws -> Data? {
        let stream = try open()
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while isWanted() {
            let count = stream.read(&buffer, maxLength: buffer.count)
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if count == 0 {
                return data
            } else {
                throw stream.streamError ?? RequestError(.encoding, phase: .building, reason: "the body can't be read")
            }
        }
        return nil
    }
}
