// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Content of which a recording has only the beginning: what can still be said of whether other content is the same.
struct ContentBeginning: Hashable, Sendable {
    /// Without secrets, also where the recording has them.
    private let known: Data
    /// How many bytes there were behind; nil where a secret was cut in two, the rest of which has any length.
    private let missing: Int64?
    /// Whether it was compressed, so that nothing of it may be seen.
    private let isEncoded: Bool

    init(_ known: Data, headers: HTTPHeaders, missing: Int64) {
        isEncoded = headers.isEncoded
        let redacted = Redaction.content(known, type: headers[.contentType])
        // A sign that was cut in two is none.
        let cut = Data("\u{FFFD}".utf8)
        let isSplit = redacted.hasSuffix(cut)
        self.known = isSplit ? redacted.dropLast(cut.count) : redacted
        self.missing = isSplit || redacted.hasSuffix(Data("REDACTED".utf8)) ? nil : missing
    }

    /// Whether the content may be that of which this is the beginning.
    ///
    /// Its length counts where nothing behind the beginning is a secret: those of a recording may have had any.
    func isBeginning(of content: Data, headers: HTTPHeaders) -> Bool {
        let redacted = Redaction.content(content, type: headers[.contentType])
        // Of what is compressed, or goes as a whole for its secrets, no more is known than that there was some.
        let isHidden = redacted.isEmpty || (isEncoded && headers.isEncoded)
        if known.isEmpty, isHidden { return !content.isEmpty }
        // A form keeps its order without its secrets; JSON is written anew.
        guard redacted.starts(with: known) || content.starts(with: known) else { return false }
        let rest = redacted.dropFirst(known.count)
        guard let missing, content.hasSuffix(rest) else { return true }
        return Int64(rest.count) == missing
    }
}

extension Data {
    fileprivate func hasSuffix(_ end: Data) -> Bool {
        suffix(end.count).elementsEqual(end)
    }
}
