// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ProgressTests {
    private let steps = ManualTransport()
    private let clock = TestClock()

    private func queue(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> TestQueue {
        TestQueue(steps) { environment in
            environment.clock = clock
            environment.retry = RetryPolicy(limit: 5, backoff: .none)
            configure(&environment)
        }
    }

    private func head(_ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:]) -> TransferEvent {
        .head(HTTPResponseHead(status: status, headers: headers, url: home))
    }

    private func data(_ count: Int) -> TransferEvent { .data(Data(count: count)) }

    private func progress(_ completed: Int64, of total: Int64? = nil) -> TransferProgress {
        TransferProgress(completed: completed, total: total)
    }

    /// Records all reported progress in order.
    private func record(
        _ operation: NetworkOperation<some NetworkRequest>,
        _ direction: TransferProgress.Direction = .download
    ) -> Recorder<TransferProgress> {
        let recorder = Recorder<TransferProgress>()
        operation.onProgress(direction, on: DispatchQueue(label: "told")) { recorder.record($0) }
        return recorder
    }

    /// Records the progress that an observer receives if it is added after the end.
    private func recordLate(_ operation: NetworkOperation<some NetworkRequest>) async -> Recorder<TransferProgress> {
        await operation.end()
        return record(operation)
    }

    private let lost = TransferEvent.end(RequestError(.connectionLost, phase: .receiving))

    // MARK: Reporting

    @Test func progressIsThrottledButFinalValueIsExact() async throws {
        let operation = queue().addRequest(TextRequest())
        let told = record(operation)
        let transfer = try await steps.awaitTransfer()

        transfer.receive(head(.ok, [.contentLength: "100"]))
        for _ in 1...3 { transfer.receive(data(10)) }
        _ = await clock.sleeps.first(1)
        clock.advance(by: .milliseconds(100))
        await told.first(2)
        for _ in 4...10 { transfer.receive(data(10)) }
        transfer.receive(.end(nil))
        await operation.end()

        #expect(await told.first(3) == [progress(0, of: 100), progress(30, of: 100), progress(100, of: 100)])
    }

    @Test func retryNeverDecreasesProgress() async throws {
        let operation = queue().addRequest(TextRequest())
        let told = record(operation)
        for (number, count) in [60, 20, 80].enumerated() {
            let transfer = try await steps.awaitTransfer(count: number + 1)
            transfer.receive(head(.ok, [.contentLength: "80"]))
            transfer.receive(data(count))
            clock.advance(by: .milliseconds(100))
            transfer.receive(number == 2 ? .end(nil) : lost)
        }
        await operation.end()

        try await eventually { told.elements.last == progress(80, of: 80) }
        let all = told.elements
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test(arguments: [true, false]) func lateObserverReceivesFinalProgress(
        isDownload: Bool
    ) async throws {
        let folder = TemporaryFolder()
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data(count: 80)) })
        let film = Film(destination: .file(folder.file("film")))

        let told =
            isDownload
            ? await recordLate(queue.addRequest(film)) : await recordLate(queue.addRequest(TextRequest()))

        #expect(await told.first(1) == [progress(80, of: 80)])
    }

    @Test func redirectAndErrorBodiesAreNotCounted() async throws {
        let operation = queue().addRequest(TextRequest())
        let told = record(operation)
        let first = try await steps.awaitTransfer()
        first.receive(head(.found, [.location: "/other", .contentLength: "500"]))
        first.receive(data(500))
        first.receive(.end(nil))
        let second = try await steps.awaitTransfer(count: 2)
        second.receive(head(.serviceUnavailable, [.contentLength: "700"]))
        second.receive(data(700))
        second.receive(.end(nil))
        let third = try await steps.awaitTransfer(count: 3)
        third.receive(head(.ok))
        third.receive(data(3))
        third.receive(.end(nil))
        await operation.end()

        #expect(await told.first(2) == [progress(0), progress(3, of: 3)])
    }

    @Test func compressedContentCountsDecodedBytes() async throws {
        let operation = queue().addRequest(TextRequest())
        let told = record(operation)
        let transfer = try await steps.awaitTransfer()

        transfer.receive(head(.ok, [.contentLength: "10", .contentEncoding: "gzip"]))
        transfer.receive(data(1000))
        transfer.receive(.end(nil))
        await operation.end()

        #expect(await told.first(2) == [progress(0), progress(1000, of: 1000)])
    }

    @Test func uploadProgressIsReportedSeparately() async throws {
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .data(Data(count: 100))))
        let operation = queue().addRequest(request)
        let (sent, received) = (record(operation, .upload), record(operation))
        let transfer = try await steps.awaitTransfer()

        transfer.receive(.sent(40, of: 100))
        clock.advance(by: .milliseconds(100))
        transfer.receive(.sent(100, of: 100))
        transfer.receive(head())
        transfer.receive(.end(nil))
        await operation.end()

        try await eventually { sent.elements.last == progress(100, of: 100) }
        #expect(await received.first(1).last == progress(0, of: 0) || received.elements.first == progress(0))
    }

    /// Otherwise, a progress bar would remain full while the body is sent again.
    @Test(arguments: [.serviceUnavailable, .temporaryRedirect, nil] as [HTTPStatus?])
    func resentUploadKeepsAdvancing(_ status: HTTPStatus?) async throws {
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .data(Data(count: 100))))
        let operation = queue().addRequest(request)
        let (sent, whole) = (record(operation, .upload), Progress(totalUnitCount: 1))
        whole.addChild(operation.uploadProgress, withPendingUnitCount: 1)
        let first = try await steps.awaitTransfer()
        clock.advance(by: .milliseconds(100))
        first.receive(.sent(100, of: 100))
        // A finished parent would remain finished.
        #expect(!whole.isFinished)
        if let status { first.receive(head(status, [.location: "/other"])) }
        first.receive(status == nil ? lost : .end(nil))
        let second = try await steps.awaitTransfer(count: 2)
        for count in [40, 100] as [Int64] {
            clock.advance(by: .milliseconds(100))
            second.receive(.sent(count, of: 100))
        }
        second.receive(head())
        second.receive(.end(nil))
        await operation.end()

        try await eventually { sent.elements.last == progress(200, of: 200) }
        #expect(whole.isFinished && whole.fractionCompleted == 1)
        let all = sent.elements
        #expect(all.contains(progress(100, of: 100)) && all.contains { $0.total == 200 && $0.completed < 200 })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
    }

    @Test func interruptedUploadIsResentCompletely() async throws {
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .data(Data(count: 100))))
        let operation = queue().addRequest(request)
        let sent = record(operation, .upload)
        let first = try await steps.awaitTransfer()
        clock.advance(by: .milliseconds(100))
        first.receive(.sent(60, of: 100))
        first.receive(lost)
        let second = try await steps.awaitTransfer(count: 2)
        clock.advance(by: .milliseconds(100))
        second.receive(.sent(30, of: 100))
        second.receive(.sent(100, of: 100))
        second.receive(head())
        second.receive(.end(nil))
        await operation.end()

        try await eventually { sent.elements.last == progress(160, of: 160) }
        #expect(sent.elements.contains { $0.total == 160 && $0.completed < 160 })
    }

    @Test func resumedDownloadCountsExistingBytes() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Progress.\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let operation = queue().addRequest(Film(destination: .file(folder.appendingPathComponent("film"))))
        let told = record(operation)
        let first = try await steps.awaitTransfer()
        first.receive(head(.ok, [.contentLength: "100", .eTag: "\"a\""]))
        first.receive(data(60))
        first.receive(lost)
        let second = try await steps.awaitTransfer(count: 2)
        #expect(second.request.headers[.range] == "bytes=60-")
        second.receive(
            head(.partialContent, [.contentLength: "40", .contentRange: "bytes 60-99/100", .eTag: "\"a\""])
        )
        clock.advance(by: .milliseconds(100))
        second.receive(data(40))
        second.receive(.end(nil))
        await operation.end()

        #expect(operation.result?.value != nil)
        // One update in between may be reported before the last.
        try await eventually { told.elements.last == progress(100, of: 100) }
        let all = told.elements
        #expect(all.first == progress(0, of: 100))
        #expect(all.allSatisfy { $0.total == 100 })
    }

    @Test func streamReportsProgress() async throws {
        let operation = queue().addRequest(Drain())
        let updates = operation.progressUpdates()
        let transfer = try await steps.awaitTransfer()
        transfer.receive(head(.ok, [.contentLength: "20"]))
        transfer.receive(data(20))
        transfer.receive(.end(nil))

        var last: TransferProgress?
        for await progress in updates { last = progress }

        #expect(last == progress(20, of: 20) && operation.result?.value == 20)
    }

    // MARK: Late observers

    @Test func lateObserverReceivesLatestProgress() async throws {
        let operation = queue().addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(head(.ok, [.contentLength: "100"]))
        transfer.receive(data(40))

        #expect(await record(operation).first(1) == [progress(40, of: 100)])
        transfer.receive(data(60))
        transfer.receive(.end(nil))
        await operation.end()

        #expect(await record(operation).first(1) == [progress(100, of: 100)])
    }

    @Test func updatesEndWithOperation() async throws {
        let operation = queue { $0.retry = .never }.addRequest(TextRequest())
        let updates = operation.progressUpdates()
        let transfer = try await steps.awaitTransfer()
        transfer.receive(head(.ok, [.contentLength: "100"]))
        transfer.receive(data(40))
        transfer.receive(lost)

        var all: [TransferProgress] = []
        for await progress in updates { all.append(progress) }

        #expect(all.last == progress(40, of: 100))
        #expect(await operation.progressUpdates().reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test func unobservedProgressUsesNoTimer() async throws {
        let operation = queue().addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(head())
        transfer.receive(data(10))
        transfer.receive(.end(nil))
        await operation.end()

        #expect(clock.sleeps.count == 0)
    }

    // MARK: Foundation's Progress

    @Test func progressCountsBytesAndCanBeChild() async throws {
        let operation = queue().addRequest(TextRequest())
        let whole = Progress(totalUnitCount: 2)
        #expect(operation.progress === operation.progress && operation.progress.isIndeterminate)
        #expect(operation.progress !== operation.uploadProgress)
        whole.addChild(operation.progress, withPendingUnitCount: 1)
        let transfer = try await steps.awaitTransfer()

        transfer.receive(head(.ok, [.contentLength: "100"]))
        clock.advance(by: .milliseconds(100))
        transfer.receive(data(50))
        #expect(whole.fractionCompleted == 0.25)
        transfer.receive(data(50))
        transfer.receive(.end(nil))
        await operation.end()

        #expect(operation.progress.isFinished && whole.fractionCompleted == 0.5)
        #expect(operation.progress.completedUnitCount == 100)
    }

    @Test func emptyResponseCompletesProgress() async throws {
        let operation = queue().addRequest(TextRequest())
        let progress = operation.progress
        let transfer = try await steps.awaitTransfer()
        transfer.receive(head())
        transfer.receive(.end(nil))
        await operation.end()

        #expect(progress.isFinished && progress.fractionCompleted == 1)
    }

    /// Otherwise, a progress bar for several requests would never disappear.
    @Test(arguments: [true, false], [0, 40])
    func parentFinishesAfterChildFails(isUpload: Bool, count: Int) async throws {
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .data(Data(count: 100))))
        let operation = queue { $0.retry = .never }.addRequest(request)
        let child = isUpload ? operation.uploadProgress : operation.progress
        let whole = Progress(totalUnitCount: 1)
        whole.addChild(child, withPendingUnitCount: 1)
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.sent(Int64(count), of: 100))
        transfer.receive(head(.ok, [.contentLength: "100"]))
        transfer.receive(data(count))
        transfer.receive(lost)
        await operation.end()

        #expect(child.isFinished && whole.isFinished && whole.fractionCompleted == 1)
        #expect(child.completedUnitCount == max(1, Int64(count)))
    }

    @Test func parentFinishesAfterChildIsCancelled() async throws {
        let operation = queue().addRequest(TextRequest())
        let whole = Progress(totalUnitCount: 1)
        whole.addChild(operation.progress, withPendingUnitCount: 1)
        let transfer = try await steps.awaitTransfer()
        operation.cancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        await operation.end()

        #expect(whole.isFinished)
    }

    @Test func cancellingProgressCancelsOperation() async throws {
        let operation = queue().addRequest(TextRequest())
        let whole = Progress(totalUnitCount: 1)
        whole.addChild(operation.progress, withPendingUnitCount: 1)
        let transfer = try await steps.awaitTransfer()

        whole.cancel()

        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        await operation.end()
        #expect(operation.result?.error?.code == .cancelled)
    }

    @Test func pausingProgressPausesOperation() async throws {
        let operation = queue().addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()

        // Foundation calls the handlers on its own thread.
        operation.progress.pause()
        try await transfer.awaitPause()
        operation.progress.resume()
        try await transfer.awaitPause(false)

        transfer.receive(head())
        transfer.receive(.end(nil))
        await operation.end()
    }

    // MARK: Samples

    private struct Film: DownloadRequest {
        typealias Success = Download.File
        typealias Failure = RequestError
        var identifier: String { "film" }
        var destination: Download.Destination
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private struct Drain: StreamRequest {
        typealias Success = Int
        typealias Failure = RequestError
        var identifier: String { "drain" }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func process(_ stream: ResponseStream) async throws -> Int { try await stream.reduce(0) { $0 + $1.count } }
    }
}
