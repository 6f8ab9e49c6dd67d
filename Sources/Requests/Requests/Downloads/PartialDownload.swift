// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file on its way: what there is of it, what of it is asked for next, and what becomes of it.
///
/// One thread at a time works with it; ``close()`` and ``token`` may come from anywhere.
final class PartialDownload: Sendable {
    private struct State: Sendable {
        /// What is known of the bytes that are in the file.
        var machine: ResumeMachine
        var file: PartialFile?
        /// Whether nobody else can have a token for the file yet, so that other bytes may come into it.
        var isOwn = false
        /// The caller's own token, as long as it is good for something.
        var given: ResumeToken?
        var target: URL?
        var again: ResumeMachine.Reason?
        var isComplete = false
        var isClosed = false
        /// Whether somebody has a token for the file.
        var isKept = false
    }

    /// How a download asks for its content.
    enum Kind: Sendable {
        /// For the whole, or for what is missing of it.
        case resumable
        /// For the whole, always: parts are of what a GET gives (RFC 9110, 14.2).
        case whole
        /// For a part that the caller has chosen, who knows what to do with it.
        case part
    }

    private let destination: DownloadDestination
    private let kind: Kind
    private let keepsToken: Bool
    private let state: Locked<State>

    /// Goes on with what an earlier download left, where there is something that can be gone on with.
    init(_ request: some DownloadRequest, _ kind: Kind, url: URL, now: @escaping @Sendable () -> Date) {
        destination = request.downloadDestination
        self.kind = kind
        keepsToken = kind == .resumable && request.resumesAutomatically && destination.fixedFile != nil
        let stored = keepsToken ? destination.fixedFile.flatMap { ResumeToken.stored(for: $0) } : nil
        let token = kind == .resumable ? request.resumeToken.asOptional ?? stored : nil
        let file = token.flatMap { PartialFile.resume($0.file()) }
        let machine = ResumeMachine(manifest: token?.manifest, length: file?.length ?? 0, url: url, now: now)
        let given = kind == .resumable ? request.resumeToken.asOptional : nil
        state = Locked(State(machine: machine, file: file, given: given, target: destination.fixedFile))
    }

    /// What the next request needs, besides the fields that it has.
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

    /// Whether a status other than the request's own says something about the file.
    func concerns(_ head: HTTPResponseHead) -> Bool {
        let isAboutParts = head.status == .rangeNotSatisfiable || head.status == .partialContent
        return isAboutParts && state.withLock { $0.machine.offset > 0 }
    }

    /// Gets ready for the content of a response.
    ///
    /// - Returns: What takes the content; nil where it isn't the file's.
    /// - Throws: ``RequestError``.
    func begin(_ head: HTTPResponseHead, flow: FlowControl, limit: Int) throws -> (any ContentReceiver)? {
        guard kind != .part else { return FileReceiver(try startOver(head), limit: limit) }
        let (decision, machine) = try state.withLock { state in
            guard !state.isClosed else { throw RequestError(.cancelled, phase: .receiving) }
            var machine = state.machine
            let decision = machine.handle(head)
            // What starts over isn't of the bytes that are there until it has.
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
            return Discard(
                besides: state.withLock { state in
                    state.isComplete = true
                    return state.file?.length
                }
            )
        case .requestAgain(let reason):
            state.withLock { $0.again = reason }
            flow.cancel()
            return Discard()
        case .passOn:
            return nil
        case .fail(let reason):
            throw RequestError(.badResponse, phase: .receiving, reason: reason.rawValue)
        }
    }

    /// Settles where the file goes, with the first response that has something of it.
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
            // What the next process finds says what the bytes are of, and they are about to be others.
            if keepsToken { ResumeToken.removeStored(for: target) }
            try former.truncate()
            file = former
        } else {
            // Whoever has a token for the former one may come to meet its version again, behind other bytes.
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
            if let manifest = machine?.manifest {
                try ResumeToken(manifest, file: file.url, length: 0).store(for: target)
            } else {
                ResumeToken.removeStored(for: target)
            }
        }
        if former !== file { former?.discard() }
        return file
    }

    /// Removes the token that the next process would find, where it is one for this file.
    private func forgetStored(for target: URL, of file: PartialFile) {
        guard keepsToken, stored(for: target, names: file) else { return }
        ResumeToken.removeStored(for: target)
    }

    private func stored(for target: URL, names file: PartialFile) -> Bool {
        ResumeToken.stored(for: target)?.file().lastPathComponent == file.url.lastPathComponent
    }

    /// Says what the end of a transfer means.
    func review(_ error: RequestError?) -> (again: ResumeMachine.Reason?, error: RequestError?) {
        if let reason = state.withLock({ $0.again }) { return (reason, nil) }
        let end = state.withLock { state in
            guard error == nil, !state.isComplete, let file = state.file else { return ResumeMachine.End.complete }
            return state.machine.ended(length: file.length)
        }
        switch end {
        case .complete: return (nil, nil)
        case .more: return (.wrongRange, nil)
        case .short: return (nil, RequestError(.connectionLost, phase: .receiving, reason: "the file isn't whole"))
        case .stuck:
            let reason = "the server gives too little at a time"
            return (nil, RequestError(.badResponse, phase: .receiving, reason: reason))
        case .excess:
            drop()
            return (nil, RequestError(.badResponse, phase: .receiving, reason: "the file is too long"))
        }
    }

    /// Removes the file, whose bytes are good for nothing.
    private func drop() {
        let (file, target, isKept) = state.withLock { state in
            defer { (state.file, state.given) = (nil, nil) }
            return (state.file, state.target, state.isKept)
        }
        guard let file, !isKept else { return }
        file.discard()
        // One that was closed in the meantime is only left.
        PartialFile.resume(file.url)?.discard()
        if let target { forgetStored(for: target, of: file) }
    }

    /// Checks the file, and moves it to its destination.
    ///
    /// - Parameters:
    ///   - digest: What the digest is to be; nil for any.
    ///   - isWanted: Whether the file is wanted yet; asked while its digest is made, which may take long.
    /// - Returns: Where the file is, and how long it is.
    /// - Throws: ``RequestError``, and what the system says.
    func complete(expecting digest: String?, isWanted: () -> Bool) throws -> (url: URL, length: Int64) {
        let (file, target) = state.withLock { ($0.file, $0.target) }
        guard let file, let target else { throw RequestError(.emptyResponse, phase: .receiving) }
        if let digest {
            let actual = try SHA256.digest(ofFile: file.url, isWanted: isWanted)?.hexadecimal
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

    // MARK: When it failed

    /// Ends the writing, so that others can go on with the file, at once.
    func close() {
        let file = state.withLock { state in
            state.isClosed = true
            return state.file
        }
        file?.finish()
    }

    /// What the file can be gone on with; nil where it can't.
    ///
    /// Who takes it has the file.
    var token: ResumeToken? {
        close()
        let (file, manifest, given) = state.withLock { state in
            let manifest = kind == .resumable && state.file != nil ? state.machine.manifest : nil
            if manifest != nil { state.isKept = true }
            return (state.file, manifest, state.given)
        }
        guard let file, let manifest else { return given }
        return ResumeToken(manifest, file: file.url, length: file.length)
    }

    /// Removes the file, unless it was moved, or somebody has a token for it: this operation's, the caller's own, or the
    /// one that the next process finds.
    func abandon() {
        close()
        let (file, isKept, target) = state.withLock { ($0.file, $0.isKept || $0.given != nil, $0.target) }
        guard let file, !isKept else { return }
        if keepsToken, let target, stored(for: target, names: file) { return }
        PartialFile.resume(file.url)?.discard()
    }
}

/// Writes content to a file.
private final class FileReceiver: ContentReceiver {
    private let file: PartialFile
    private let limit: Int64

    init(_ file: PartialFile, limit: Int) {
        self.file = file
        self.limit = Int64(limit)
    }

    var count: Int64? { file.length }

    func receive(_ data: Data) throws {
        guard Int64(data.count) <= limit - file.length else {
            throw RequestError(.bodyTooLarge, phase: .receiving, reason: "more than \(limit) bytes")
        }
        do { try file.append(data) } catch { throw RequestError(error) }
    }

    func end(_ error: RequestError?) {}
}

/// Takes content that nobody wants.
private final class Discard: ContentReceiver {
    let count: Int64?

    /// Makes one beside a file that is whole, or beside none.
    init(besides count: Int64? = nil) {
        self.count = count
    }

    func receive(_ data: Data) {}
    func end(_ error: RequestError?) {}
}
