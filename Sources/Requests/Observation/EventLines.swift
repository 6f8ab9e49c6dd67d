// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An event as lines for a log; each names its operation, since events of others come in between.
struct EventLines {
    private(set) var lines: [String] = []
    private let level: ConsoleMonitor.Level
    private let showsCURL: Bool

    /// The maximum number of characters of a line.
    private static let mostText = 4096
    /// The maximum size of content that is inspected at all.
    private static let mostRead = 64 * 1024

    init(
        _ event: OperationEvent,
        of operation: OperationInfo,
        level: ConsoleMonitor.Level,
        showsCURL: Bool = false
    ) {
        self.level = level
        self.showsCURL = showsCURL
        let id = "#\(operation.id)"
        switch event {
        case .operationCreated:
            lines = ["\(operation) made"]
        case .operationStarted:
            lines = ["\(id) started"]
        case .operationJoined(let leader):
            lines = ["\(id) joined #\(leader.id)"]
        case .transferStarted(let attempt):
            add(attempt, to: "\(id).\(attempt.number)")
        case .responseStarted(let head, let attempt), .informationalResponseReceived(let head, let attempt):
            add("\(id).\(attempt.number) <-", head.status.description)
            add(head.headers, to: "\(id).\(attempt.number) <")
        case .trailersReceived(let fields, let attempt):
            add(fields, to: "\(id).\(attempt.number) <")
        case .transferEnded(let attempt, let record):
            add("\(id).\(attempt.number)", Self.text(of: record))
            // The content of a failure is shown with it.
            if level >= .responses, let content = record.content, record.response?.status.category == .success {
                add(content, of: record.response?[.contentType], to: "\(id).\(attempt.number) <")
            }
        case .retryScheduled(let delay, let error):
            add(id, "tries again in \(delay.inWords): \(error.summary)")
        case .authenticationStarted(let step):
            add(id, "waits for a credential: \(step)")
        case .authenticationEnded(_, let isGranted):
            add(id, isGranted ? "has a credential" : "has no credential")
        case .operationEnded(let outcome):
            add(outcome, to: id)
        }
    }

    private mutating func add(_ prefix: String, _ text: String) {
        lines.append("\(prefix) \(text.shortened(to: Self.mostText))")
    }

    private mutating func add(_ attempt: TransferInfo, to prefix: String) {
        let request = attempt.request
        let address = Redaction.shownAddress(request.url.absoluteString)
        let cause = attempt.cause == .initial ? "" : " (\(attempt.cause))"
        add("\(prefix) ->", "\(request.method.rawValue.shortened(to: 16)) \(address)\(cause)")
        add(request.headers, to: "\(prefix) >")
        if level >= .bodies { add(request.body, of: request.headers, to: "\(prefix) >") }
        guard showsCURL else { return }
        let command =
            (try? CURLCommand(request, redacts: true, isOneLine: true).text) ?? "curl: the content is a stream"
        // Not truncated: half a command would be another one.
        lines.append("\(prefix) $ \(command.shortened(to: .max))")
    }

    private mutating func add(_ headers: HTTPHeaders, to prefix: String) {
        guard level >= .headers else { return }
        for field in headers { add(prefix, "\(field.name): \(Redaction.value(of: field))") }
    }

    private mutating func add(_ body: HTTPBody, of headers: HTTPHeaders, to prefix: String) {
        switch body.content {
        case .none: break
        case .data(let data) where headers.isEncoded: add(prefix, "(\(data.count) bytes)")
        case .data(let data): add(data, of: headers[.contentType] ?? body.headers[.contentType], to: prefix)
        case .file(let url): add(prefix, "(the file \(url.lastPathComponent))")
        case .stream(let stream): add(prefix, "(a stream\(stream.length.map { " of \($0) bytes" } ?? ""))")
        }
    }

    private mutating func add(_ content: Data, of type: String?, to prefix: String) {
        guard !content.isEmpty else { return }
        let safe = content.count > Self.mostRead ? nil : Redaction.shown(content, type: type)
        let shown = safe.flatMap { String(utf8: $0) } ?? "(\(content.count) bytes)"
        lines.append("\(prefix) \(shown.shortened(to: Self.mostText))")
    }

    private mutating func add(_ outcome: OperationOutcome, to prefix: String) {
        switch outcome {
        case .success:
            add(prefix, "succeeded")
        case .cancelled:
            add(prefix, "was cancelled")
        case .failure(let error):
            add(prefix, "failed: \(error)")
            guard level >= .bodies else { return }
            add(error.body, of: error.response?[.contentType], to: "\(prefix) <")
        }
    }

    private static func text(of record: TransferRecord) -> String {
        let time = record.metrics?.duration.map { ", \($0.inWords)" } ?? ""
        if let error = record.error { return "failed\(time): \(error.summary)" }
        return "ended: \(record.response?.status.description ?? "no answer")\(time)"
    }
}
