// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The header fields that an environment and a request declare as secret, or as allowed in cross-origin requests.
struct HeaderMarks: Sendable {
    /// The names in `sensitiveHeaders`.
    var secrets: Set<HTTPField.Name>
    /// The names in `crossOriginHeaders`.
    var crossOrigin: Set<HTTPField.Name>

    /// Whether no field is declared.
    var isEmpty: Bool { secrets.isEmpty && crossOrigin.isEmpty }

    /// Marks the fields with these names as secret or as allowed cross-origin.
    func mark(_ headers: inout HTTPHeaders) {
        headers.markSecrets(secrets)
        headers.allowCrossOrigin(crossOrigin)
    }
}
