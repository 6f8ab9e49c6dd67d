// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The names of header fields that an environment and a request have declared to be secrets, or to be crossOrigin.
struct HeaderMarks: Sendable {
    /// The names in `sensitiveHeaders`.
    var secrets: Set<HTTPField.Name>
    /// The names in `crossOriginHeaders`.
    var crossOrigin: Set<HTTPField.Name>

    /// Whether no name is declared.
    var isEmpty: Bool { secrets.isEmpty && crossOrigin.isEmpty }

    /// Marks the fields with these names.
    func mark(_ headers: inout HTTPHeaders) {
        headers.markSecrets(secrets)
        headers.allowCrossOrigin(crossOrigin)
    }
}
