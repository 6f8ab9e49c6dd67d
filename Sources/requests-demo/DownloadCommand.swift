// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Downloads a file, and shows a progress bar on a terminal.
///
/// An interrupted download is resumed, even by another process.
struct DownloadCommand {
    let download: Download

    init(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        guard words.count == 2, let url = URL(string: words[0]), url.host != nil else {
            throw Arguments.UsageError(description: Arguments.usage)
        }
        var download = HTTPRequest(url: url)
            .download(to: .file(URL(fileURLWithPath: words[1])))
            .resumingAutomatically()
        download.options.retry = .default
        self.download = download
    }

    func run() async throws {
        let operation = OperationQueue().addRequest(download)
        let bar = ProgressBar()
        for await progress in operation.progressUpdates() { bar.show(progress) }
        bar.end()
        print(try await operation.value().path)
    }
}

/// A progress bar on one line of a terminal; does nothing if standard error isn't a terminal.
struct ProgressBar {
    private let isShown = isatty(STDERR_FILENO) == 1

    func show(_ progress: TransferProgress) {
        guard isShown else { return }
        let filled = Int((progress.fraction ?? 0) * 40)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
        write("\r[\(bar)] \(progress)  ")
    }

    func end() {
        if isShown { write("\n") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
