// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
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
}
