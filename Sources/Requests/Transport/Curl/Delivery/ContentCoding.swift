// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// A coding of content that can be decoded here (RFC 9110, 8.4.1): one whose library can be loaded.
enum ContentCoding: String, Sendable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// Makes a coding of its name in `Content-Encoding`; `nil` if it isn't known, or its library can't be loaded.
    init?(_ name: some StringProtocol) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        guard isAvailable else { return nil }
    }

    /// The coding in the words of the decoder.
    var rawCoding: CCoding {
        switch self {
        case .gzip: CCODING_GZIP
        case .deflate: CCODING_DEFLATE
        case .brotli: CCODING_BROTLI
        case .zstd: CCODING_ZSTD
        }
    }

    private var isAvailable: Bool { ccoding_is_available(rawCoding) }

    /// The `Accept-Encoding` line with the codings that can be decoded; `nil` if there are none.
    static let acceptLine: String? = {
        let names = allCases.filter(\.isAvailable).map(\.rawValue)
        return names.isEmpty ? nil : "Accept-Encoding: \(names.joined(separator: ", "))"
    }()

    /// The codings that content has to be decoded from, in the order in which they were applied.
    ///
    /// Content with a coding that isn't known isn't decoded at all, and neither is a part of it (206), which has no
    /// beginning.
    ///
    /// - Parameter head: The head of the content.
    /// - Returns: The codings; none if the content isn't decoded.
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
