// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ConsoleMonitor {
    /// The maximum number of characters per line.
    private static let maximumLineLength = 4096
    /// The maximum size of content that is inspected and printed; for larger content, only the byte count is printed.
    private static let maximumInspectedSize = 64 * 1024

    /// Returns the lines of an event.
    ///
    /// Each line names its operation, because events of other operations come in between.
    func lines(of event: OperationEvent, of operation: OperationEvent.Info) -> [String] {
        let id = "#\(operation.id)"
        return switch event {
        case .operationCreated: ["\(operation) created"]
        case .operationStarted: ["\(id) started"]
        case .operationJoined(let leader): ["\(id) joined #\(leader.id)"]
        case .transferStarted(let transfer): lines(of: transfer, withPrefix: "\(id).\(transfer.number)")
        case .responseStarted(let head, let transfer), .informationalResponseReceived(let head, let transfer):
            [Self.line("\(id).\(transfer.number) <-", head.status.description)]
                + lines(of: head.headers, withPrefix: "\(id).\(transfer.number) <")
        case .trailersReceived(let fields, let transfer): lines(of: fields, withPrefix: "\(id).\(transfer.number) <")
        case .transferEnded(let transfer, let record): lines(of: record, withPrefix: "\(id).\(transfer.number)")
        case .retryScheduled(let delay, let error):
            [Self.line(id, "retries in \(delay.displayString): \(error.summary)")]
        case .authenticationStarted(let step): [Self.line(id, "is waiting for credentials: \(step)")]
        case .authenticationEnded(_, let isGranted): ["\(id) \(isGranted ? "received" : "didn't receive") credentials"]
        case .operationEnded(.success): ["\(id) succeeded"]
        case .operationEnded(.cancelled): ["\(id) was cancelled"]
        case .operationEnded(.failure(let error)):
            [Self.line(id, "failed: \(error)")]
                + (level < .bodies
                    ? [] : Self.lines(of: error.body, error.response?[.contentType], withPrefix: "\(id) <"))
        }
    }

    private static func line(_ prefix: String, _ text: String) -> String {
        "\(prefix) \(text.shortened(to: maximumLineLength))"
    }

    private func lines(of transfer: OperationEvent.Transfer, withPrefix prefix: String) -> [String] {
        let request = transfer.request
        let address = Redaction.displayAddress(request.url.absoluteString)
        let cause = transfer.cause == .initial ? "" : " (\(transfer.cause))"
        var lines = [Self.line("\(prefix) ->", "\(request.method.rawValue.shortened(to: 16)) \(address)\(cause)")]
        lines += self.lines(of: request.headers, withPrefix: "\(prefix) >")
        if level >= .bodies { lines += Self.lines(of: request.body, request.headers, withPrefix: "\(prefix) >") }
        guard showsCURL else { return lines }
        let command =
            (try? CURLCommand(request, redacts: true, isOneLine: true).text) ?? "curl: the body is a stream"
        // Don't truncate the command, because half a command would be a different command.
        return lines + ["\(prefix) $ \(command.shortened(to: .max))"]
    }

    private func lines(of headers: HTTPHeaders, withPrefix prefix: String) -> [String] {
        level < .headers ? [] : headers.map { Self.line(prefix, "\($0.name): \(Redaction.value(of: $0))") }
    }

    private func lines(of record: TransferRecord, withPrefix prefix: String) -> [String] {
        let time = record.metrics?.duration.map { ", \($0.displayString)" } ?? ""
        let outcome = record.response?.status.description ?? "no response"
        let text = record.error.map { "failed\(time): \($0.summary)" } ?? "ended: \(outcome)\(time)"
        let end = Self.line(prefix, text)
        // The content of a failed request is printed with its error.
        guard level >= .responses, let content = record.content, record.response?.status.category == .success else {
            return [end]
        }
        return [end] + Self.lines(of: content, record.response?[.contentType], withPrefix: "\(prefix) <")
    }

    private static func lines(of body: HTTPBody, _ headers: HTTPHeaders, withPrefix prefix: String) -> [String] {
        switch body.content {
        case .none: []
        case .data(let data) where headers.isEncoded: ["\(prefix) (\(data.count.counting("byte")))"]
        case .data(let data): lines(of: data, headers[.contentType] ?? body.headers[.contentType], withPrefix: prefix)
        case .file(let url): [line(prefix, "(the file \(url.lastPathComponent))")]
        case .stream(let stream): ["\(prefix) (a stream\(stream.length.map { " of \($0.counting("byte"))" } ?? ""))"]
        }
    }

    private static func lines(of content: Data, _ type: String?, withPrefix prefix: String) -> [String] {
        guard !content.isEmpty else { return [] }
        let safe = content.count > maximumInspectedSize ? nil : Redaction.content(content, type: type)
        return [line(prefix, safe.flatMap { String(utf8: $0) } ?? "(\(content.count.counting("byte")))")]
    }
}
