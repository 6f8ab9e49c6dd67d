// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Reads an entry of a HAR archive, which any program may have written.
struct ArchiveReader {
    private let entry: JSONValue
    private let index: Int
    private let request: JSONValue
    private let response: JSONValue

    init(_ entry: JSONValue, index: Int) throws(HTTPArchive.Error) {
        (self.entry, self.index) = (entry, index)
        guard let request = entry["request"] else {
            throw HTTPArchive.Error("entry \(index): request is missing")
        }
        self.request = request
        // Proxies omit the response if there was none.
        response = entry["response"] ?? ["status": 0]
    }

    func exchange() throws(HTTPArchive.Error) -> Exchange {
        let start = entry["startedDateTime"]?.text.flatMap(Date.init(timestamp:)) ?? Date(timeIntervalSince1970: 0)
        var exchange = Exchange(request: try readRequest(), metrics: TransferRecord.Metrics(start: start))
        // Browsers omit file content and large content, but state its size.
        let statedSize = exchange.request.body.isEmpty ? request["bodySize"]?.wholeNumber.map(Self.clamped) : nil
        exchange.requestBodySize += missingByteCount(in: request["postData"]) ?? statedSize ?? 0
        exchange.response = try readResponse()
        exchange.error = error(hasResponse: exchange.response != nil)
        return exchange
    }

    // MARK: Request

    private func readRequest() throws(HTTPArchive.Error) -> ReceivedRequest {
        let method = try text(request["method"], "request.method")
        guard method.isToken else { throw makeError("request.method", "isn't a valid method") }
        let address = try text(request["url"], "request.url")
        guard let url = URL(lenient: address) else { throw makeError("request.url", "isn't a valid URL") }
        let headers = headers(of: request)
        return ReceivedRequest(url: url, method: HTTPMethod(method), headers: headers, body: try requestBody(headers))
    }

    private func requestBody(_ headers: HTTPHeaders) throws(HTTPArchive.Error) -> Data {
        guard let content = request["postData"], content != .null else { return Data() }
        if case .string(let text)? = content["text"], !text.isEmpty {
            let encoding = content["_encoding"] ?? content["encoding"]
            let type = headers[.contentType] ?? content["mimeType"]?.text
            return try decode(text, encoding, type, "request.postData.text")
        }
        guard case .array(let parameters)? = content["params"] else { return Data() }
        let items = parameters.map { Query.Item($0["name"]?.text ?? "", value: $0["value"]?.text) }
        return Query(items, spaces: .plus).formEncoded
    }

    // MARK: Response

    private func readResponse() throws(HTTPArchive.Error) -> Exchange.Response? {
        guard let status = response["status"] else { throw makeError("response.status", "is missing") }
        guard case .integer(let code) = status, (0...999).contains(code) else {
            throw makeError("response.status", "isn't a valid status code")
        }
        guard code > 0 else { return nil }
        let headers = headers(of: response)
        var result = Exchange.Response(status: HTTPStatus(Int(code)), headers: headers)
        let content = response["content"]
        if case .string(let text)? = content?["text"] {
            let type = headers[.contentType] ?? content?["mimeType"]?.text
            result.body = try decode(text, content?["encoding"], type, "response.content.text")
            result.bodySize = Int64(result.body.count) + (missingByteCount(in: content) ?? 0)
        } else {
            result.bodySize = missingByteCount(in: content) ?? content?["size"]?.wholeNumber.map(Self.clamped) ?? 0
        }
        return result
    }

    private func error(hasResponse: Bool) -> RequestError? {
        guard let name = (response["_error"] ?? entry["_error"])?.text, !name.isEmpty else {
            let reason = "no response was recorded"
            return hasResponse ? nil : RequestError(.connectionLost, phase: .sending, reason: reason)
        }
        // Browsers write their own error names here, even if the response is complete.
        let code = RequestError.Code.recordable.first { $0.name == name }
        guard code != nil || !hasResponse else { return nil }
        let reason = code == nil ? name.shortened() : nil
        return RequestError(code ?? .connectionLost, phase: hasResponse ? .receiving : .sending, reason: reason)
    }

    // MARK: Values

    /// Reads the header fields, without the pseudo-header fields of HTTP/2 (RFC 9113, 8.3).
    ///
    /// Browsers write repeated fields as a single value with several lines.
    private func headers(of message: JSONValue) -> HTTPHeaders {
        guard case .array(let fields)? = message["headers"] else { return [] }
        var headers = HTTPHeaders()
        for field in fields {
            guard let name = field["name"]?.text, !name.isEmpty, !name.hasPrefix(":") else { continue }
            let value = field["value"]?.text ?? ""
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                headers.add(String(line), for: HTTPField.Name(name))
            }
        }
        return headers
    }

    /// - Throws: ``HTTPArchive/Error`` if base64 is invalid.
    private func decode(
        _ text: String,
        _ encoding: JSONValue?,
        _ type: String?,
        _ field: String
    ) throws(HTTPArchive.Error) -> Data {
        if case .string(let name)? = encoding, name.equalsIgnoringASCIICase("base64") {
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw makeError(field, "isn't valid base64")
            }
            return data
        }
        // The archive contains decoded text, so encode it in the charset of its media type, in which the receiver
        // decodes it again.
        let charset = type.flatMap { try? MediaType(parsing: $0) }?.encoding ?? .utf8
        return charset == .utf8 ? Data(text.utf8) : text.data(using: charset) ?? Data(text.utf8)
    }

    private func missingByteCount(in content: JSONValue?) -> Int64? {
        content?["_missing"]?.wholeNumber.map(Self.clamped)
    }

    /// Limits a byte count, so that adding up several counts can't overflow.
    private static func clamped(_ size: Int64) -> Int64 {
        min(max(0, size), 1 << 53)
    }

    private func text(_ value: JSONValue?, _ field: String) throws(HTTPArchive.Error) -> String {
        guard let value else { throw makeError(field, "is missing") }
        guard let text = value.text else { throw makeError(field, "isn't a string") }
        return text
    }

    private func makeError(_ field: String, _ reason: String) -> HTTPArchive.Error {
        let address = request["url"]?.text.map(Redaction.address)
        let words = [request["method"]?.text?.shortened(to: 16), address?.shortened(to: 128)].compactMap { $0 }
        let label = words.isEmpty ? "" : " (\(words.joined(separator: " ")))"
        return HTTPArchive.Error("entry \(index)\(label): \(field) \(reason)")
    }
}

extension JSONValue {
    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    fileprivate var wholeNumber: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }
}

extension RequestError.Code {
    /// The error codes with which a transfer can end.
    fileprivate static let recordable: [RequestError.Code] = [
        .cancelled, .timedOut, .deadlineExceeded, .offline, .cannotConnect, .connectionLost, .badResponse, .untrusted,
        .headTooLarge, .bodyTooLarge, .bufferFull, .bodyNotReplayable, .invalidRequest, .encoding, .closed,
        .unsupported, .other,
    ]
}

extension HTTPArchive {
    /// An error that is thrown if an archive can't be read, or if an entry can't be replayed.
    public struct Error: DescribedError, Sendable, Hashable {
        /// The entry, the field and the reason, such as
        /// `entry 3 (GET https://example.com/): response.status is missing`.
        ///
        /// Entries are counted from 0, and secrets are redacted.
        public let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
