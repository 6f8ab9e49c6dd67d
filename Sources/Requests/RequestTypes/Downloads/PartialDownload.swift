// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file that is being downloaded: its bytes, the next request for it, and its end.
///
/// One thread at a time works with it; ``close()`` and ``token`` may be called from anywhere.
final class PartialDownload: Sendable {
    private struct State: Sendable {
        /// The state of the bytes in the file.
        var machine: ResumeMachine
        var file: PartialFile?
        /// Whether no other token for the file can exist yet, so that the file may be overwritten.
        var isOwn = false
        /// The caller's own token, as long as it is valid.
        var given: Download.ResumeToken?
        var target: URL?
        var again: ResumeMachine.Reason?
        var isComplete = false
        var isClosed = false
        /// The claim on the file of the tokens for it, if there are any: then they remove it.
        var claim: PartialFileClaim?
    }

    /// The kind of request that the download sends.
    enum Kind: Sendable {
        /// For the whole, or for the missing part.
        case resumable
        /// For the whole, always: only the content of a GET has parts (RFC 9110, 14.2).
        case whole
        /// For a part that the caller has chosen.
        case part
    }

    private let destination: Download.Destination
    private let kind: Kind
    private let keepsToken: Bool
    private let state: Locked<State>

    /// Resumes an earlier download if possible.
    init(_ request: some DownloadRequest, _ kind: Kind, url: URL, now: @escaping @Sendable () -> Date) {
        destination = request.downloadDestination
        self.kind = kind
        keepsToken = kind == .resumable && request.resumesAutomatically && destination.fixedFile != nil
        let stored = keepsToken ? destination.fixedFile.flatMap { Download.ResumeToken.stored(for: $0) } : nil
        let given = kind == .resumable ? request.resumeToken.asOptional : nil
        given?.keepFile()
        let token = kind == .resumable ? given ?? stored : nil
        let file = token.flatMap { PartialFile.resume($0.file()) }
        let machine = ResumeMachine(manifest: token?.manifest, length: file?.length ?? 0, url: url, now: now)
        state = Locked(State(machine: machine, file: file, given: given, target: destination.fixedFile))
    }

    /// The additional fields of the next request.
    func fields(besides headers: HTTPHeaders) -> [HTTPField] {
        // A part of encoded content can't be decoded.
        guard kind != .part else {
            return headers.contains(.acceptEncoding) ? [] : [HTTPField(.acceptEncoding, "identity")]
        }
        return state.withLock { state in
            let length = kind == .resumable ? state.file?.length : nil
            if let length, state.again == nil { state.machine.interrupted(length: length) }
            state.again = nil
            return state.machine.fields
        }
    }

    /// Whether a status that the request doesn't accept concerns the file.
    func concerns(_ head: HTTPResponseHead) -> Bool {
        let isAboutParts = head.status == .rangeNotSatisfiable || head.status == .partialContent
        return isAboutParts && state.withLock { $0.machine.offset > 0 }
    }

    /// Prepares for the content of a response.
    ///
    /// - Returns: The receiver of the content; `nil` if it isn't the file's content.
    /// - Throws: ``RequestError``.
    func begin(_ head: HTTPResponseHead, flow: FlowControl, limit: Int) throws -> (any ContentReceiver)? {
        guard kind != .part else { return FileReceiver(try startOver(head), limit: limit) }
        let (decision, machine) = try state.withLock { state in
            guard !state.isClosed else { throw RequestError(.cancelled, phase: .receiving) }
            var machine = state.machine
            let decision = machine.handle(head)
            // If the download starts over, the state changes only when it has: until then the old bytes are there.
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
            return FileReceiver(try startOver(head, knowing: machine), limit: limit)
        case .complete:
            try chooseTarget(for: head)
            let file = state.withLock { state in
                state.isComplete = true
                return state.file
            }
            return FileReceiver(file, limit: nil)
        case .requestAgain(let reason):
            state.withLock { $0.again = reason }
            flow.cancel()
            return FileReceiver(nil, limit: nil)
        case .passOn:
            return nil
        case .fail(let reason):
            throw reason.error
        }
    }

    /// Chooses the location of the file, with the first response that has content for it.
    @discardableResult
    private func chooseTarget(for head: HTTPResponseHead) throws -> URL {
        let chosen = state.withLock { $0.target }
        let target = try chosen ?? destination.file(suggestedName: head.suggestedFileName, response: head)
        try destination.check(target)
        state.withLock { $0.target = target }
        if destination.createsIntermediateDirectories { try PartialFile.createFolder(of: target) }
        return target
    }

    private func startOver(_ head: HTTPResponseHead, knowing machine: ResumeMachine? = nil) throws -> PartialFile {
        let target = try chooseTarget(for: head)
        let (former, isOwn) = state.withLock { ($0.file, $0.isOwn) }
        let file: PartialFile
        if let former, isOwn, former.url.isBeside(target) {
            // The stored token describes the old bytes, which are about to be replaced.
            if keepsToken { Download.ResumeToken.removeStored(for: target) }
            try former.truncate()
            file = former
        } else {
            // The holder of a token for the former file may meet its version again, after other bytes.
            file = try PartialFile.create(beside: target)
        }
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            (state.file, state.isOwn, state.given, state.isComplete) = (file, true, nil, false)
            if let machine { state.machine = machine }
            return false
        }
        guard !isClosed else {
            file.discard()
            throw RequestError(.cancelled, phase: .receiving)
        }
        if keepsToken {
            // Nothing would remove the partial file of a download that ended, but whose token is replaced here.
            Download.ResumeToken.discardStored(for: target)
            if let manifest = machine?.manifest {
                try Download.ResumeToken(manifest, file: file.url, length: 0).store(for: target)
            } else {
                Download.ResumeToken.removeStored(for: target)
            }
        }
        if former !== file { former?.discard() }
        return file
    }

    /// Removes the token that the next process would find, if it belongs to this file.
    private func forgetStored(for target: URL, of file: PartialFile) {
        guard keepsToken, stored(for: target, names: file) else { return }
        Download.ResumeToken.removeStored(for: target)
    }

    private func stored(for target: URL, names file: PartialFile) -> Bool {
        Download.ResumeToken.stored(for: target)?.file().lastPathComponent == file.url.lastPathComponent
    }

    /// Interprets the end of a transfer.
    ///
    /// - Parameter isComplete: Whether the transport found no error.
    /// - Returns: The reason for sending the request again; `nil` if the transfer's own end counts.
    /// - Throws: The error of a file that isn't whole.
    func review(isComplete: Bool) throws(RequestError) -> ResumeMachine.Reason? {
        if let reason = state.withLock({ $0.again }) { return reason }
        let end = state.withLock { state in
            guard isComplete, !state.isComplete, let file = state.file else { return ResumeMachine.Decision.complete }
            return state.machine.ended(length: file.length)
        }
        switch end {
        case .requestAgain(let reason): return reason
        case .fail(let reason):
            if reason == .excess { drop() }
            throw reason.error
        default: return nil
        }
    }

    /// Removes the file, whose bytes are useless.
    private func drop() {
        let (file, target, hasToken) = state.withLock { state in
            defer { (state.file, state.given) = (nil, nil) }
            return (state.file, state.target, state.claim != nil)
        }
        guard let file, !hasToken else { return }
        file.discard()
        // If the file was closed in the meantime, it is only left.
        PartialFile.resume(file.url)?.discard()
        if let target { forgetStored(for: target, of: file) }
    }

    /// Checks the file, and moves it to its destination.
    ///
    /// - Parameters:
    ///   - digest: The expected digest; `nil` for any.
    ///   - isWanted: Whether the file is still wanted; asked while its digest is computed, which may take long.
    /// - Returns: The location and the byte count of the file.
    /// - Throws: ``RequestError``, and errors of the file system.
    func complete(expecting digest: String?, isWanted: () -> Bool) throws -> (url: URL, length: Int64) {
        let (file, target) = state.withLock { ($0.file, $0.target) }
        guard let file, let target else { throw RequestError(.emptyResponse, phase: .receiving) }
        if let digest {
            let actual = try SHA256.digest(ofFile: file.url, shouldContinue: isWanted)?.hexadecimal
            guard let actual else { throw RequestError(.cancelled, phase: .validating) }
            guard actual == digest.lowercased() else {
                drop()
                let reason = "the file “\(target.lastPathComponent.shortened())” has another digest than expected"
                throw RequestError(.digestMismatch, phase: .validating, reason: reason)
            }
        }
        guard isWanted() else { throw RequestError(.cancelled, phase: .validating) }
        let length = file.length
        try file.move(to: target, overwrite: destination.overwrite)
        state.withLock { ($0.file, $0.given) = (nil, nil) }
        forgetStored(for: target, of: file)
        return (target, length)
    }

    /// Removes the complete file of a download that was cancelled when it was moved, unless it may have replaced
    /// another.
    ///
    /// The next download to that place would be refused otherwise.
    func retract(_ url: URL) {
        if !destination.overwrite { try? FileManager.default.removeItem(at: url) }
    }

    // MARK: When it failed

    /// Ends the writing at once, so that others can resume the download.
    func close() {
        let file = state.withLock { state in
            state.isClosed = true
            return state.file
        }
        file?.finish()
    }

    /// A token that resumes the download; `nil` if it can't be resumed.
    var token: Download.ResumeToken? {
        close()
        let (file, manifest, given, claim) = state.withLock { state in
            let manifest = kind == .resumable ? state.machine.manifest : nil
            // The file of the caller's own token is the caller's.
            if state.claim == nil, state.given == nil, manifest != nil {
                state.claim = state.file.map { PartialFileClaim($0.url) }
            }
            return (state.file, manifest, state.given, state.claim)
        }
        guard let file, let manifest else { return given }
        return Download.ResumeToken(manifest, file: file.url, length: file.length, claim: claim)
    }

    /// Removes the file, unless it was moved, or there is a token for it: this operation's, the caller's own, or the
    /// stored one.
    ///
    /// If there is a file at the destination that must not be replaced, the stored one is useless, and removed.
    func abandon() {
        close()
        let (file, claim, isGiven, target) = state.withLock { ($0.file, $0.claim, $0.given != nil, $0.target) }
        guard !isGiven else { return }
        if keepsToken, let target, !destination.isFree(target) {
            // A token that was read keeps its file, which can be completed elsewhere.
            if claim == nil {
                Download.ResumeToken.discardStored(for: target)
            } else if let file {
                forgetStored(for: target, of: file)
            }
        }
        guard let file else { return }
        if keepsToken, let target, stored(for: target, names: file) {
            claim?.passOn()
        } else if claim == nil {
            PartialFile.resume(file.url)?.discard()
        }
    }
}

/// Writes content to a file, or discards it.
private final class FileReceiver: ContentReceiver {
    private let file: PartialFile?
    private let limit: Int?

    /// Makes a receiver; without a limit, it discards the content.
    init(_ file: PartialFile?, limit: Int?) {
        (self.file, self.limit) = (file, limit)
    }

    var count: Int64? { file?.length }

    func receive(_ data: Data) throws {
        guard let file, let limit else { return }
        guard Int64(data.count) <= Int64(limit) - file.length else {
            throw RequestError(.bodyTooLarge, phase: .receiving, reason: "more than \(limit) bytes")
        }
        do { try file.append(data) } catch { throw RequestError(error) }
    }

    func end(_ error: RequestError?) {}
}
