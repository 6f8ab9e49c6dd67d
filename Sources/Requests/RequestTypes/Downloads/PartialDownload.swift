// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A download in progress: its partial file, the header fields of its next request, and its completion.
///
/// Only one thread may use a download at a time, except for ``close()`` and ``token``, which any thread may call.
final class PartialDownload: Sendable {
    private struct State: Sendable {
        var machine: ResumeMachine
        var file: PartialFile?
        /// Whether the file may be truncated and reused, because no other token for it can exist yet.
        var canTruncateFile = false
        /// The resume token that the caller passed in, while it is valid.
        var callerToken: Download.ResumeToken?
        var target: URL?
        var resendReason: ResumeMachine.Reason?
        var isComplete = false
        var isClosed = false
        /// The claim that the tokens of this download share; once it exists, the claim is responsible for removing the
        /// file.
        var claim: PartialFileClaim?
    }

    /// The kind of request that the download sends.
    enum Kind: Sendable {
        /// Requests the entire file, or only its missing part.
        case resumable
        /// Always requests the entire file, because only GET supports ranges (RFC 9110, 14.2).
        case full
        /// Requests a range that the caller has chosen.
        case callerRange
    }

    private let destination: Download.Destination
    private let kind: Kind
    private let keepsToken: Bool
    private let state: Locked<State>

    /// Creates a download, which resumes an earlier download if possible.
    init(_ request: some DownloadRequest, _ kind: Kind, url: URL, now: @escaping @Sendable () -> Date) {
        destination = request.downloadDestination
        self.kind = kind
        keepsToken = kind == .resumable && request.resumesAutomatically && destination.fixedFile != nil
        let stored = keepsToken ? destination.fixedFile.flatMap { Download.ResumeToken.stored(for: $0) } : nil
        let callerToken = kind == .resumable ? request.resumeToken.asOptional : nil
        callerToken?.keepFile()
        let token = kind == .resumable ? callerToken ?? stored : nil
        let file = token.flatMap { PartialFile.resume($0.file()) }
        let machine = ResumeMachine(manifest: token?.manifest, length: file?.length ?? 0, url: url, now: now)
        state = Locked(State(machine: machine, file: file, callerToken: callerToken, target: destination.fixedFile))
    }

    /// Returns the header fields to add to the next request.
    func fields(addedTo headers: HTTPHeaders) -> [HTTPField] {
        // A part of encoded content can't be decoded, so request unencoded content.
        guard kind != .callerRange else {
            return headers.contains(.acceptEncoding) ? [] : [HTTPField(.acceptEncoding, "identity")]
        }
        return state.withLock { state in
            let length = kind == .resumable ? state.file?.length : nil
            if let length, state.resendReason == nil { state.machine.interrupted(length: length) }
            state.resendReason = nil
            return state.machine.fields
        }
    }

    /// Returns whether the download can use a response whose status the request itself doesn't accept.
    func handlesResponse(_ head: HTTPResponseHead) -> Bool {
        let isAboutParts = head.status == .rangeNotSatisfiable || head.status == .partialContent
        return isAboutParts && state.withLock { $0.machine.offset > 0 }
    }

    /// Prepares the file for a response, and creates the receiver of the content.
    ///
    /// - Returns: The receiver; `nil` if the content doesn't belong to the file.
    /// - Throws: ``RequestError``.
    func makeReceiver(_ head: HTTPResponseHead, flow: FlowControl, limit: Int) throws -> (any ContentReceiver)? {
        guard kind != .callerRange else { return FileReceiver(try startOver(head), limit: limit) }
        let (decision, machine) = try state.withLock { state in
            guard !state.isClosed else { throw RequestError(.cancelled, phase: .receiving) }
            var machine = state.machine
            let decision = machine.handle(head)
            // If the download starts over, keep the current state until the old bytes have been replaced.
            if decision != .startOver { state.machine = machine }
            return (decision, machine)
        }
        switch decision {
        case .append(let position):
            try chooseTarget(for: head)
            let file = state.withLock { $0.file }
            try file?.truncate(to: position)
            return file.map { FileReceiver($0, limit: limit) }
        case .startOver:
            return FileReceiver(try startOver(head, with: machine), limit: limit)
        case .complete:
            try chooseTarget(for: head)
            let file = state.withLock { state in
                state.isComplete = true
                return state.file
            }
            return FileReceiver(file, limit: nil)
        case .requestAgain(let reason):
            state.withLock { $0.resendReason = reason }
            flow.cancel()
            return FileReceiver(nil, limit: nil)
        case .passThrough:
            return nil
        case .fail(let reason):
            throw reason.error
        }
    }

    /// Returns the location of the file, which the first response with content determines.
    @discardableResult
    private func chooseTarget(for head: HTTPResponseHead) throws -> URL {
        let chosen = state.withLock { $0.target }
        let target = try chosen ?? destination.file(suggestedName: head.suggestedFileName, response: head)
        try destination.check(target)
        state.withLock { $0.target = target }
        if destination.createsIntermediateDirectories { try PartialFile.createFolder(of: target) }
        return target
    }

    private func startOver(_ head: HTTPResponseHead, with machine: ResumeMachine? = nil) throws -> PartialFile {
        let target = try chooseTarget(for: head)
        let (previous, canTruncateFile) = state.withLock { ($0.file, $0.canTruncateFile) }
        let file: PartialFile
        if let previous, canTruncateFile, previous.url.isBeside(target) {
            // Remove the stored token, because it describes the bytes that are about to be overwritten.
            if keepsToken { Download.ResumeToken.removeStored(for: target) }
            try previous.truncate()
            file = previous
        } else {
            // A token may still refer to the previous file, so don't overwrite that file. Otherwise, the token's
            // download would append to bytes of another version.
            file = try PartialFile.create(beside: target)
        }
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            (state.file, state.canTruncateFile, state.callerToken, state.isComplete) = (file, true, nil, false)
            if let machine { state.machine = machine }
            return false
        }
        guard !isClosed else {
            file.discard()
            throw RequestError(.cancelled, phase: .receiving)
        }
        if keepsToken {
            // Remove the partial file of the token that is replaced here, because its download has ended, and nothing
            // else would remove the file.
            Download.ResumeToken.discardStored(for: target)
            if let manifest = machine?.manifest {
                try Download.ResumeToken(manifest, file: file.url, length: 0).store(for: target)
            } else {
                Download.ResumeToken.removeStored(for: target)
            }
        }
        if previous !== file { previous?.discard() }
        return file
    }

    /// Removes the stored token for a destination, if the token refers to this file.
    private func removeStoredToken(for target: URL, of file: PartialFile) {
        guard keepsToken, hasStoredToken(for: target, naming: file) else { return }
        Download.ResumeToken.removeStored(for: target)
    }

    private func hasStoredToken(for target: URL, naming file: PartialFile) -> Bool {
        Download.ResumeToken.stored(for: target)?.file().lastPathComponent == file.url.lastPathComponent
    }

    /// Evaluates the end of a transfer.
    ///
    /// - Parameter isComplete: Whether the transfer ended without an error.
    /// - Returns: The reason to send the request again; `nil` to use the outcome of the transfer.
    /// - Throws: An error if the file isn't complete, or too long.
    func transferEnded(isComplete: Bool) throws(RequestError) -> ResumeMachine.Reason? {
        if let reason = state.withLock({ $0.resendReason }) { return reason }
        let end = state.withLock { state in
            guard isComplete, !state.isComplete, let file = state.file else { return ResumeMachine.Decision.complete }
            return state.machine.ended(length: file.length)
        }
        switch end {
        case .requestAgain(let reason): return reason
        case .fail(let reason):
            if reason == .excess { discardFile() }
            throw reason.error
        default: return nil
        }
    }

    /// Removes the file, because its bytes can't be used.
    private func discardFile() {
        let (file, target, hasToken) = state.withLock { state in
            defer { (state.file, state.callerToken) = (nil, nil) }
            return (state.file, state.target, state.claim != nil)
        }
        guard let file, !hasToken else { return }
        file.discard()
        // If the file was closed in the meantime, `discard()` did nothing, so reopen the file to remove it.
        PartialFile.resume(file.url)?.discard()
        if let target { removeStoredToken(for: target, of: file) }
    }

    /// Verifies the file, and moves it to its destination.
    ///
    /// - Parameters:
    ///   - digest: The expected digest; `nil` accepts any digest.
    ///   - shouldContinue: Returns whether the file is still needed; called repeatedly while the digest is computed.
    /// - Returns: The location and the byte count of the file.
    /// - Throws: ``RequestError``, and errors of the file system.
    func complete(expecting digest: String?, shouldContinue: () -> Bool) throws -> (url: URL, length: Int64) {
        let (file, target) = state.withLock { ($0.file, $0.target) }
        guard let file, let target else { throw RequestError(.emptyResponse, phase: .receiving) }
        if let digest {
            let actual = try SHA256.digest(ofFile: file.url, shouldContinue: shouldContinue)?.hexadecimal
            guard let actual else { throw RequestError(.cancelled, phase: .validating) }
            guard actual == digest.lowercased() else {
                discardFile()
                let reason = "the digest of the file “\(target.lastPathComponent.shortened())” isn't the expected one"
                throw RequestError(.digestMismatch, phase: .validating, reason: reason)
            }
        }
        guard shouldContinue() else { throw RequestError(.cancelled, phase: .validating) }
        let length = file.length
        try file.move(to: target, overwrite: destination.overwrite)
        state.withLock { ($0.file, $0.callerToken) = (nil, nil) }
        removeStoredToken(for: target, of: file)
        return (target, length)
    }

    /// Removes the complete file of a download that was cancelled during the move, unless the move may have replaced
    /// another file.
    ///
    /// If the file stayed, the next download to the same destination would fail.
    func removeCompletedFile(_ url: URL) {
        if !destination.overwrite { try? FileManager.default.removeItem(at: url) }
    }

    // MARK: Closing

    /// Stops writing immediately, so that another download can resume the file.
    func close() {
        let file = state.withLock { state in
            state.isClosed = true
            return state.file
        }
        file?.finish()
    }

    /// A token that resumes the download, or `nil` if that isn't possible; reading it closes the download.
    var token: Download.ResumeToken? {
        close()
        let (file, manifest, callerToken, claim) = state.withLock { state in
            let manifest = kind == .resumable ? state.machine.manifest : nil
            // If the caller passed in a token, the caller owns the file, so no claim is needed.
            if state.claim == nil, state.callerToken == nil, manifest != nil {
                state.claim = state.file.map { PartialFileClaim($0.url) }
            }
            return (state.file, manifest, state.callerToken, state.claim)
        }
        guard let file, let manifest else { return callerToken }
        return Download.ResumeToken(manifest, file: file.url, length: file.length, claim: claim)
    }

    /// Removes the file, unless it was moved, or a token for it exists: this operation's, the caller's or the stored
    /// token.
    ///
    /// If the destination has a file that must not be replaced, the stored token is useless, and is removed too.
    func abandon() {
        close()
        let (file, claim, hasCallerToken, target) = state.withLock {
            ($0.file, $0.claim, $0.callerToken != nil, $0.target)
        }
        guard !hasCallerToken else { return }
        if keepsToken, let target, !destination.isFree(target) {
            // If a token was read, keep the file, because the download can be completed at another destination.
            if claim == nil {
                Download.ResumeToken.discardStored(for: target)
            } else if let file {
                removeStoredToken(for: target, of: file)
            }
        }
        guard let file else { return }
        if keepsToken, let target, hasStoredToken(for: target, naming: file) {
            claim?.release()
        } else if claim == nil {
            PartialFile.resume(file.url)?.discard()
        }
    }
}

/// Writes received content to a file, or discards it.
private final class FileReceiver: ContentReceiver {
    private let file: PartialFile?
    private let limit: Int?

    /// Creates a receiver; without a file or a limit, it discards the content.
    init(_ file: PartialFile?, limit: Int?) {
        (self.file, self.limit) = (file, limit)
    }

    var count: Int64? { file?.length }

    func receive(_ data: Data) throws {
        guard let file, let limit else { return }
        guard Int64(data.count) <= Int64(limit) - file.length else {
            throw RequestError(.bodyTooLarge, phase: .receiving, reason: "the content exceeds \(limit) bytes")
        }
        do { try file.append(data) } catch { throw RequestError(error) }
    }

    func end(_ error: RequestError?) {}
}
