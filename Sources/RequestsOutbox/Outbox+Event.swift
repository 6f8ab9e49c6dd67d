// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// A change to an outbox or its entries.
    public enum Event: Sendable {
        /// An entry was added, and is stored on disk.
        case added(Entry)
        /// An attempt to send an entry has begun.
        case sending(Entry)
        /// An attempt failed, and the entry will be sent again.
        case failed(Entry, RequestError)
        /// An entry isn't sent until it is retried, or until its account is set again.
        ///
        /// In the first case, the entry was refused, its response wasn't handled, it has expired, or it can't be read.
        /// In the second case, its request was cancelled because the account has changed.
        case parked(Entry, RequestError?)
        /// The application has retried an entry.
        case retried(Entry)
        /// An entry was sent, its response was handled, and the entry was removed.
        case sent(Entry, HTTPResponseHead)
        /// The application removed an entry.
        case removed(Entry)
        /// The account has changed, so the outbox sends other entries.
        case accountChanged(String?)
        /// The folder was removed, or replaced by another folder.
        ///
        /// The outbox has stopped, and this is its last event. It sends nothing more, and
        /// ``Outbox/add(_:in:expires:file:)`` throws the error. Close the outbox, and open a new outbox.
        case folderLost(FileError)
    }
}
