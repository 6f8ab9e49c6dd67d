// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The source of a request's header field, and whether the field may be sent to other origins.
    struct Provenance: Sendable {
        /// The code that set the field.
        enum Source: Sendable {
            /// The field was set after the engine passed the request on, by code that hasn't been identified yet.
            case unattributed
            /// The caller set the field on the request itself. It stays if an interceptor changes the URL.
            case caller
            /// The environment set the field.
            case environment
            /// An interceptor set the field.
            case interceptor
            /// The field belongs to the body, and is removed together with it.
            case body
            /// The library set the field for the protocol of the request. It is sent to any origin.
            case library
        }

        var source = Source.unattributed
        /// Whether `crossOriginHeaders` contains the name of the field.
        var isAllowedCrossOrigin = false
    }

    /// Returns a copy of the field that is attributed to the library.
    func attributedToLibrary() -> HTTPField {
        var field = self
        field.provenance.source = .library
        return field
    }

    /// Returns whether the field stays in its request when the request moves to another origin.
    ///
    /// - Parameters:
    ///   - change: The change of origin.
    ///   - withContent: Whether the content of the request stays too.
    /// - Returns: Whether the field stays.
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

    /// Whether the field describes the content, and has no meaning without it.
    var isAboutContent: Bool { provenance.source == .body || name.isAboutContent }
}

extension HTTPField.Name {
    /// Fields that are never sent to another origin, even if `crossOriginHeaders` contains their name.
    fileprivate static let boundToOrigin: Set<Self> = [
        .authorization, .proxyAuthorization, .cookie, "Cookie2", .host,
    ]

    /// Whether a field with this name reveals nothing about the user, and so may be sent to any origin.
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
    /// Removes the fields that must not be sent to another origin, and returns their names.
    ///
    /// - Parameters:
    ///   - change: The change of origin.
    ///   - withContent: Whether the content of the request stays.
    ///   - sources: The sources whose fields always stay.
    /// - Returns: The names of the removed fields.
    /// - Complexity: O(n) in the number of fields.
    mutating func removeFields(
        leftBehindBy change: OriginChange,
        withContent: Bool,
        except sources: Set<HTTPField.Provenance.Source> = []
    ) -> [HTTPField.Name] {
        guard change != .none else { return [] }
        // If one field is marked as secret, all fields with the same name are secret.
        markSecrets(markedSecrets)
        var removed: HTTPHeaders = []
        removeAll { field in
            // `Host` belongs to the previous URL, whoever has set it.
            let stays =
                sources.contains(field.provenance.source)
                && (field.name != .host || field.provenance.source == .unattributed)
            guard !stays, !field.follows(change, withContent: withContent) else { return false }
            removed.add(field)
            return true
        }
        return removed.names
    }

    /// Whether any field was set after the engine passed the request on.
    var hasUnattributedFields: Bool { contains { $0.provenance.source == .unattributed } }

    /// Attributes the fields that were set after the engine passed the request on.
    ///
    /// - Complexity: O(n) in the number of fields; nothing is copied if there are none.
    mutating func attribute(to source: HTTPField.Provenance.Source) {
        guard hasUnattributedFields else { return }
        update { if $0.provenance.source == .unattributed { $0.provenance.source = source } }
    }

    /// Allows the fields with these names to be sent to other origins.
    mutating func allowCrossOrigin(_ names: Set<HTTPField.Name>) {
        guard !names.isEmpty, contains(where: { names.contains($0.name) }) else { return }
        update { if names.contains($0.name) { $0.provenance.isAllowedCrossOrigin = true } }
    }
}

extension HTTPRequest {
    /// Removes everything that must not be sent to another origin, and records the names of the removed fields.
    ///
    /// - Parameters:
    ///   - change: The change of origin.
    ///   - sources: The sources whose fields always stay.
    mutating func leaveOrigin(
        _ change: OriginChange,
        except sources: @autoclosure () -> Set<HTTPField.Provenance.Source> = []
    ) {
        // Return before evaluating `sources`, because most requests stay at their origin.
        guard change != .none else { return }
        let names = headers.removeFields(leftBehindBy: change, withContent: !body.isEmpty, except: sources())
        fields.notes.withheldHeaders += names.filter { !fields.notes.withheldHeaders.contains($0) }
        // The other server has never seen the credentials, so its rejection doesn't apply to them.
        fields.notes.credentialGenerations = [:]
    }

    /// Removes everything that was added after the request left its origin.
    ///
    /// - Parameter change: The change of origin that has already happened.
    mutating func leaveOriginAgain(after change: OriginChange) {
        guard change != .none else { return }
        fields.notes.originChange = max(fields.notes.originChange, change)
        leaveOrigin(change)
    }
}
