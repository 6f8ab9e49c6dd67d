// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An absolute address taken apart where RFC 3986, 3, has its delimiters; nothing in it is decoded or checked.
struct AddressParts {
    /// Scheme, credentials, host and port: everything before the path.
    let root: Substring
    /// The path, empty or with a slash in front.
    let path: Substring
    /// The query without its `?`, where there is one.
    let query: Substring?
    /// Path, query and fragment, as they are.
    let reference: String

    /// Takes an address apart; one without scheme and authority is none here.
    ///
    /// - Complexity: O(n).
    init?(_ address: String) {
        let bytes = address.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].dropFirst().starts(with: "//".utf8)
        else { return nil }
        let authority = bytes.index(colon, offsetBy: 3)
        let pathStart = bytes[authority...].firstIndex(where: "/?#".utf8.contains) ?? bytes.endIndex
        let fragmentStart = bytes[pathStart...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[pathStart..<fragmentStart].firstIndex(of: UInt8(ascii: "?"))
        root = address[..<pathStart]
        path = address[pathStart..<(queryStart ?? fragmentStart)]
        query = queryStart.map { address[bytes.index(after: $0)..<fragmentStart] }
        reference = String(address[pathStart...])
    }
}
