// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// Where a field of a request came from, and whether it may go to other origins.
    struct Provenance: Sendable {
        /// The code that set the field.
        enum Source: Sendable {
            /// Not known yet: set since the engine handed the request over.
            case unattributed
            /// The caller, on the request itself: it stays if an interceptor changes the address.
            case caller
            /// The environment.
            case environment
            /// An interceptor.
            case interceptor
            /// The body: it stays behind with the body.
            case body
            /// The library, for the protocol of the request: it goes wherever the request goes.
            case library
        }

        /// The code that set the field.
        var source = Source.unattributed
        /// Whether `crossOriginHeaders` names the field.
        var isAllowedCrossOrigin = false
    }

    /// Returns the field as one that the library has set.
    func attributedToLibrary() -> HTTPField {
        var field = self
        field.provenance.source = .library
        return field
    }

    /// Whether the field follows its request to another origin.
    ///
    /// - Parameters:
    ///   - change: The distance to the other origin.
    ///   - withContent: Whether the content of the request follows.
    /// - Returns: Whether it does.
    fileprivate func follows(_ change: OriginChange, withContent: Bool) -> Bool {
        guard change != .none else { return true }
        guard !Name.boundToOrigin.contains(name) else { return false }
        guard !isAboutContent || withContent || change == .upgrade && provenance.source != .body else { return false }
        switch provenance.source {
        case _ where provenance.isAllowedCrossOrigin: return true
        case .library: return true
        default: return !name.isSensitive && (change == .upgrade || name.isSafeCrossOrigin)
        }
    }

    /// Whether the field describes the content, and makes no sense without it.
    var isAboutContent: Bool { provenance.source == .body || name.isAboutContent }
}

extension HTTPField.Name {
    /// Fields that don't follow to another origin, even if they are released.
    fileprivate static let boundToOrigin: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, "Cookie2", .host,
    ]

    /// Whether a field of that name says nothing about the user, so that any origin may receive it.
    fileprivate var isSafeCrossOrigin: Bool {
        Self.safeCrossOrigin.contains(self) || self == .accept || hasPrefix("accept-") || hasPrefix("if-")
            || isAboutContent
    }

    fileprivate var isAboutContent: Bool { Self.digests.contains(self) || hasPrefix("content-") }

    private func hasPrefix(_ prefix: String) -> Bool {
        rawValue.utf8.lazy.map(ASCII.lowercased).starts(with: prefix.utf8)
    }

    private static let safeCrossOrigin: Set<Self> = [
        .userAgent, .range, .cacheControl, .pragma, "Prefer", .expect, .te, .priority, .traceParent, "tracestate",
        .idempotencyKey, .upgrade,
    ]
    private static let digests: Set<Self> = ["Digest", "Repr-Digest"]
}

extension HTTPHeaders {
    /// Removes the fields that don't follow their request to another origin, and returns their names.
    ///
    /// - Parameters:
    ///   - change: The distance to the other origin.
    ///   - withContent: Whether the content of the request follows.
    ///   - sources: The sources whose fields stay in any case.
    /// - Returns: The names of the removed fields.
    /// - Complexity: O(n) in the number of fields.
    mutating func removeFields(
        leftBehindBy change: OriginChange,
        withContent: Bool,
        except sources: Set<HTTPField.Provenance.Source> = []
    ) -> [HTTPField.Name] {
        guard change != .none else { return [] }
        // A mark on one field of a name holds for all of them.
        markSecrets(markedSecrets)
        var removed: HTTPHeaders = []
        removeAll { field in
            // A `Host` is that of an address, whoever has set it.
            let stays =
                sources.contains(field.provenance.source)
                && (field.name != .host || field.provenance.source == .unattributed)
            guard !stays, !field.follows(change, withContent: withContent) else { return false }
            removed.add(field)
            return true
        }
        return removed.names
    }

    /// Whether a field was set since the request was handed over.
    var hasUnattributedFields: Bool { contains { $0.provenance.source == .unattributed } }

    /// Attributes the fields that were set since the request was handed over.
    ///
    /// - Complexity: O(n) in the number of fields; nothing is copied if there are none.
    mutating func attribute(to source: HTTPField.Provenance.Source) {
        guard hasUnattributedFields else { return }
        update { if $0.provenance.source == .unattributed { $0.provenance.source = source } }
    }

    /// Releases some fields for other origins.
    mutating func allowCrossOrigin(_ names: Set<HTTPField.Name>) {
        guard !names.isEmpty, contains(where: { names.contains($0.name) }) else { return }
        update { if names.contains($0.name) { $0.provenance.isAllowedCrossOrigin = true } }
    }
}

extension HTTPRequest {
    /// Leaves behind what doesn't follow the request to another origin, and notes the names of the fields.
    ///
    /// - Parameters:
    ///   - change: The distance to the other origin.
    ///   - sources: The sources whose fields stay in any case.
    mutating func leaveOrigin(
        _ change: OriginChange,
        except sources: @autoclosure () -> Set<HTTPField.Provenance.Source> = []
    ) {
        // Before the set is made: most requests stay where they are.
        guard change != .none else { return }
        let names = headers.removeFields(leftBehindBy: change, withContent: !body.isEmpty, except: sources())
        fields.notes.withheldHeaders += names.filter { !fields.notes.withheldHeaders.contains($0) }
        // The other server has never seen the credentials, and its refusal doesn't concern them.
        fields.notes.credentialGenerations = [:]
    }

    /// Leaves behind what was added since the request has left its origin.
    ///
    /// - Parameter change: The distance to the origin that it has left.
    mutating func leaveOriginAgain(after change: OriginChange) {
        guard change != .none else { return }
        fields.notes.originChange = max(fields.notes.originChange, change)
        leaveOrigin(change)
    }
}
