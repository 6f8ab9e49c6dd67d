// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Downloads one file, with a bar where there is a terminal; what is interrupted, also by the end of the process, the
/// next run goes on with.
struct Download {
    let request: FileRequest

    init(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count == 2, let url = URL(string: words[0]), url.host != nil else {
            throw Arguments.UsageError(description: Arguments.usage)
        }
        request = FileRequest(url: url, file: URL(fileURLWithPath: words[1]))
    }

    func run() async throws {
        let operation = OperationQueue().addRequest(request)
        let bar = ProgressBar()
        for await progress in operation.progressUpdates() { bar.show(progress) }
        bar.end()
        let file = try await operation.value()
        print("\(file.url.path): \(file.length) bytes")
    }
}

/// A file, from anywhere.
struct FileRequest: DownloadRequest {
    typealias Success = DownloadedFile
    typealias Failure = RequestError

    let url: URL
    let file: URL

    var identifier: String { url.absoluteString }
    var destination: DownloadDestination { .file(file) }
    var resumesAutomatically: Bool { true }

    var options: RequestOptions {
        var options = RequestOptions()
        options.retry = .default
        return options
    }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: url)))
    }
}

/// A bar that grows on one line of a terminal; nothing elsewhere.
struct ProgressBar {
    private let isShown = isatty(STDERR_FILENO) == 1

    func show(_ progress: TransferProgress) {
        let filled = Int((progress.fraction ?? 0) * 40)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
        write("\r[\(bar)] \(progress)  ")
    }

    func end() {
        write("\n")
    }

    private func write(_ text: String) {
        if isShown { FileHandle.standardError.write(Data(text.utf8)) }
    }
}
