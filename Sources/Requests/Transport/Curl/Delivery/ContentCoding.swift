// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// A content coding (RFC 9110, 8.4.1) that this transport can decode if the library for the coding can be loaded.
enum ContentCoding: String, Sendable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// Creates a coding from its name in `Content-Encoding`; `nil` if the name is unknown, or the library for the
    /// coding can't be loaded.
    init?(_ name: some StringProtocol) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        guard isAvailable else { return nil }
    }

    /// The coding as the C decoder's constant.
    var rawCoding: CCoding {
        switch self {
        case .gzip: CCODING_GZIP
        case .deflate: CCODING_DEFLATE
        case .brotli: CCODING_BROTLI
        case .zstd: CCODING_ZSTD
        }
    }

    private var isAvailable: Bool { ccoding_is_available(rawCoding) }

    /// The `Accept-Encoding` line with the available codings; `nil` if there are none.
    static let acceptLine: String? = {
        let names = allCases.filter(\.isAvailable).map(\.rawValue)
        return names.isEmpty ? nil : "Accept-Encoding: \(names.joined(separator: ", "))"
    }()

    /// Returns the codings from which the content must be decoded, in the order in which they were applied.
    ///
    /// Content isn't decoded if one of its codings is unknown. A part of the content (206) isn't decoded either,
    /// because its beginning is missing.
    ///
    /// - Parameter head: The head of the response.
    /// - Returns: The codings; empty if the content isn't decoded.
    static func codings(of head: HTTPResponseHead) -> [ContentCoding] {
        let values = head[values: .contentEncoding]
        guard !values.isEmpty, head.status != .partialContent else { return [] }
        var codings: [ContentCoding] = []
        for value in values {
            for name in FieldScanner.elements(of: value) where !name.equalsIgnoringASCIICase("identity") {
                guard let coding = ContentCoding(name) else { return [] }
                codings.append(coding)
            }
        }
        return codings
    }
}
#endif
