// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// The reason why an ``Outbox`` can't be opened, or doesn't accept a request.
    ///
    /// A problem with the disk is a `FileError` instead.
    public enum Error: ExplainedError, DescribedError, Sendable, Hashable {
        /// Another outbox, in this process or another process, uses the folder.
        case inUse
        /// The outbox was closed.
        case closed
        /// The type of the request isn't registered; the associated value is the name of the type.
        case unregistered(String)
        /// A name was registered twice, so it doesn't determine the type and the handler.
        case repeatedName(String)
        /// The name of an entry matches two registered types. In older journals, the name is a Swift type name, which
        /// may not be unique.
        case ambiguousName(String)
        /// The journal has records of a newer version of the library, which must not be ignored.
        case newerJournal
        /// The body of the request is a file, which may change or vanish before it is sent.
        case fileBody

        /// The error in one sentence.
        public var description: String {
            switch self {
            case .inUse: "another outbox uses the folder; close it first"
            case .closed: "the outbox is closed"
            case .unregistered(let type): "the type “\(type.shortened())” isn't registered; register it with the outbox"
            case .repeatedName(let name):
                "the name “\(name.shortened())” is registered twice; give each type its own name"
            case .ambiguousName(let name):
                "the name “\(name.shortened())” matches two registered types; remove the entry"
            case .newerJournal: "the journal was written by a newer version of the library; open it with that version"
            case .fileBody: "the body of the request is a file; pass the file to the outbox, which copies it"
            }
        }
    }
}
