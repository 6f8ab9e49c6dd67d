// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// A request in an outbox.
    public struct Entry: Sendable, Hashable, Identifiable, Codable {
        /// The state of an entry.
        public enum State: Sendable, Hashable, Codable {
            /// The entry is sent after the earlier entries of its category, once its wait is over.
            case pending
            /// The entry is being sent, its response is being handled, or its outcome can't be recorded, for example
            /// because the disk is full.
            case sending
            /// The entry isn't sent, for this reason; retry it, or remove it.
            case parked(Reason)
        }

        /// The reason why an entry isn't sent.
        public enum Reason: String, Sendable, Hashable, Codable {
            /// The entry failed, and another attempt would fail too.
            case refused
            /// The server accepted the entry, but the handler of the response threw an error.
            ///
            /// If the entry is retried, the request is sent again.
            case unhandled
            /// The journal was damaged, and may have recorded that the entry was sent.
            case uncertain
            /// The entry expired before it was sent.
            case expired
            /// The entry belongs to an account other than the current account; it is sent when its account is set
            /// again.
            case otherAccount
            /// The entry's type isn't registered.
            case unregistered
            /// The entry's content can't be decoded or migrated, or its name matches two types.
            ///
            /// Only in journals of earlier versions of the library can a name match two types.
            case unreadable
        }

        /// The identifier of the entry, which is also the `Idempotency-Key` of all its requests.
        public let id: UUID
        /// The registered name of the request's type.
        public let type: String
        /// The time at which the entry was added.
        public let added: Date
        /// The category, whose entries are sent in order; `nil` for none.
        public internal(set) var category: String?
        /// The account that the outbox had when the entry was added.
        public internal(set) var account: String?
        /// The time from which the entry is no longer sent; `nil` if it doesn't expire, as after a retry.
        public internal(set) var expires: Date?
        /// The state.
        public internal(set) var state = State.pending
        /// The number of failed attempts; an attempt includes the retries of the client.
        public internal(set) var attempts = 0
        /// The earliest time of the next attempt; `nil` if there is no wait.
        public internal(set) var nextAttempt: Date?
        /// The last failure, on one line without secrets; `nil` before the first failure.
        public internal(set) var failure: String?
        /// The wait before the next attempt, in seconds; `nil` if there is none, and in journals of earlier versions.
        var wait: TimeInterval?
        /// The name of the file that contains the body of the request.
        var body: String?
        /// Whether the category continues without this entry.
        var isPassed = false
    }

    /// A closure that handles the response to an entry.
    public typealias Handler<R: NetworkRequest> = @Sendable (Delivery<R>) async throws -> Void
}
