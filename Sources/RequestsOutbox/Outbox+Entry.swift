// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// A request in an outbox.
    public struct Entry: Sendable, Hashable, Identifiable, Codable {
        /// The state of an entry.
        public enum State: Sendable, Hashable, Codable {
            /// It is sent after the earlier entries of its category, once its wait is over.
            case pending
            /// It is being sent, or its response is being handled; or its end can't be recorded, as on a full disk.
            case sending
            /// It isn't sent, for this reason; retry it, or remove it.
            case parked(Reason)
        }

        /// The reason why an entry isn't sent.
        public enum Reason: String, Sendable, Hashable, Codable {
            /// It failed, and another attempt would fail too.
            case refused
            /// The server has accepted it, and the handler of the response has thrown an error. If it is retried, the
            /// request is sent again.
            case unhandled
            /// The journal was damaged, and may have said that the entry was sent.
            case uncertain
            /// It wasn't sent in time.
            case expired
            /// It belongs to another account than the current one; it is sent when its account is set again.
            case otherAccount
            /// Its type isn't registered.
            case unregistered
            /// Its content can't be decoded, or can't be migrated; or its name fits two types, as it can in journals of
            /// earlier versions.
            case unreadable
        }

        /// The identifier of the entry, which is also the `Idempotency-Key` of all its requests.
        public let id: UUID
        /// The registered name of the request's type.
        public let type: String
        /// The time at which it was added.
        public let added: Date
        /// The category, whose entries are sent in their order; `nil` if it has none.
        public internal(set) var category: String?
        /// The account that the outbox had when the entry was added.
        public internal(set) var account: String?
        /// The time at which it expires, and isn't sent any more; `nil` if it doesn't expire, as after a retry.
        public internal(set) var expires: Date?
        /// The state.
        public internal(set) var state = State.pending
        /// The number of failed attempts; an attempt includes the retries of the client.
        public internal(set) var attempts = 0
        /// The earliest time of the next attempt; `nil` if it needn't wait.
        public internal(set) var nextAttempt: Date?
        /// The last failure, in a line without secrets; `nil` before the first.
        public internal(set) var failure: String?
        /// The wait before the next attempt, in seconds; `nil` if it needn't wait, and in journals of earlier versions.
        var wait: TimeInterval?
        /// The name of the file that is the body of the request.
        var body: String?
        /// Whether its category continues without it.
        var isPassed = false
    }

    /// A change of an outbox.
    public enum Event: Sendable {
        /// An entry was added, and is on the disk.
        case added(Entry)
        /// An attempt to send an entry begins.
        case sending(Entry)
        /// An attempt has failed, and there will be another one.
        case failed(Entry, RequestError)
        /// An entry isn't sent until it is retried: it was refused, its response wasn't handled, it has expired, or it
        /// can't be read. Or its request was cancelled because the account has changed: it isn't sent until the account
        /// is the same again.
        case parked(Entry, RequestError?)
        /// The application retries an entry.
        case retried(Entry)
        /// An entry was sent, its response was handled, and it is removed.
        case sent(Entry, HTTPResponseHead)
        /// The application has removed an entry.
        case removed(Entry)
        /// The outbox has another account, and sends other entries.
        case accountChanged(String?)
        /// The folder was removed, or replaced by another one. The outbox has stopped, and this is its last event: it
        /// sends nothing more, and ``Outbox/add(_:in:expires:file:)`` throws the error. Close it, and open another one.
        case folderLost(FileError)
    }

    /// A decision about an entry whose attempt has failed.
    public enum Decision: Sendable, Hashable {
        /// It is sent again after a wait, and its category waits for it.
        case retry
        /// It is parked, and its category waits for it.
        case park
        /// It is parked, and its category continues.
        case skip

        /// Creates the usual decision.
        ///
        /// | failure | decision |
        /// |---|---|
        /// | a status from 400 to 499 without `Retry-After`, except 401, 407, 408, 421, 425 and 429 | `park` |
        /// | the request is invalid, or can't be encoded or sent by this client | `park` |
        /// | the status is from 200 to 299, and a validator refuses the response | `park` |
        /// | the status is accepted, and the content is too large, or can't be decoded | `park` |
        /// | the same over `http`, and the content is HTML of another type than accepted, or can't be decoded | `retry` |
        /// | everything else, such as no connection, 401 or 503 | `retry` |
        ///
        /// A 401 is retried, since a login changes the credentials of the client, and not the entry. A 409 with
        /// `Retry-After` is retried, since a server may send it while it still processes the same `Idempotency-Key`.
        /// HTML over `http` is retried, since it may be the login page of a captive portal. Over `https`, only the
        /// server can have sent it.
        public init(about error: RequestError) {
            let codes: Set<RequestError.Code> = [
                .invalidRequest, .encoding, .unsupported, .bodyNotReplayable, .decoding, .emptyResponse,
                .unexpectedBody, .bodyTooLarge, .headTooLarge,
            ]
            // The request's own error about content that it can't use, or the outbox's about a body that is a file.
            let isOwn = error.code == .other && error.phase == .decoding || error.underlying is Outbox.Error
            let isFinal = error.isRefusal || isOwn || codes.contains(error.code)
            self = isFinal && !error.mayBePortalPage ? .park : .retry
        }
    }

    /// Handles a response.
    public typealias Handler<R: NetworkRequest> = @Sendable (Delivery<R>) async throws -> Void

    /// An entry that was sent, with its response.
    public struct Delivery<R: NetworkRequest>: Sendable {
        /// The entry.
        public let entry: Entry
        /// The request.
        public let request: R
        /// The response, with the value of the request.
        public let response: HTTPResponse<R.Success>
    }
}

extension Outbox {
    /// The reason why an ``Outbox`` can't be opened, or doesn't take a request.
    ///
    /// A problem of the disk is a `FileError` instead.
    public enum Error: ExplainedError, DescribedError, Sendable, Hashable {
        /// Another outbox, in this process or another, uses the folder.
        case inUse
        /// The outbox was closed.
        case closed
        /// The type of the request isn't registered; the value is the name of the type.
        case unregistered(String)
        /// A name was registered twice, so that it doesn't determine the type and the handler.
        case repeatedName(String)
        /// An entry has a name from the code, as in journals of earlier versions, that fits two registered types.
        case ambiguousName(String)
        /// The journal has records of a newer version of the library, which must not be ignored.
        case newerJournal
        /// The body of the request is a file, which may change or vanish before it is sent.
        case fileBody

        /// The error, in a sentence.
        public var description: String {
            switch self {
            case .inUse: "another outbox uses the folder; close it first"
            case .closed: "the outbox is closed"
            case .unregistered(let type): "the type “\(type.shortened())” isn't registered; register it with the outbox"
            case .repeatedName(let name): "the name “\(name.shortened())” is registered twice; give each type its own"
            case .ambiguousName(let name): "the name “\(name.shortened())” fits two registered types; remove the entry"
            case .newerJournal: "the journal is of a newer version; open it with that version"
            case .fileBody: "the body of the request is a file; pass the file to the outbox, which copies it"
            }
        }
    }
}

extension RequestError {
    /// Whether the response may be the login page of a captive portal, which answers any request over `http`, or
    /// redirects it.
    fileprivate var mayBePortalPage: Bool {
        guard [.unacceptableContentType, .decoding].contains(code), let response, 200...299 ~= response.status.code,
            let type = response[.contentType].flatMap({ try? MediaType(parsing: $0) }),
            ["text/html", "application/xhtml+xml"].contains(type.essence)
        else { return false }
        return (transfers.map(\.request) + [request].compactMap(\.self)).contains { $0.url.scheme == "http" }
    }

    /// Whether the response says that the same request would be refused again.
    fileprivate var isRefusal: Bool {
        guard [.unacceptableStatus, .rejected, .unacceptableContentType].contains(code) else { return false }
        return switch response?.status.code ?? 0 {
        case 200...299: true
        case 401, 407, 408, 421, 425, 429: false
        case 400...499: retryAfter() == nil
        default: false
        }
    }
}
