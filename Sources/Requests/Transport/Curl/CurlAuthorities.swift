// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// The certificates of authorities, in a form that libcurl takes.
enum CurlAuthorities: Sendable, Hashable {
    /// PEM text.
    case bytes(Data)
    /// A file of such text.
    case file(String)

    /// The certificates of these authorities, and of the system's where they are among them.
    ///
    /// - Throws: A ``RequestError`` where the system's aren't known.
    init(_ authorities: HostTrust.Authorities, version: UInt32) throws(RequestError) {
        // Never empty: without a single certificate nobody is trusted, which isn't the same as no option at all.
        var text = Data("The authorities of a trust policy\n".utf8)
        if authorities.includesSystem {
            guard let system = Self.system else {
                let reason = "the certificates of the system's authorities aren't found, to add others to them"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            text += system + Data("\n".utf8)
        }
        for certificate in authorities.certificates { text += Data(certificate.pem.utf8) }
        self = version >= 0x074D00 ? .bytes(text) : .file(try Self.file(of: text))
    }

    /// The system's, read once; empty where they are in a folder, in which libcurl looks anyway.
    private static let system: Data? = {
        let file = ccurl_ca_file().map { String(cString: $0) }
        // Where libcurl is too old to say: the places of the distributions that have had such a version.
        let usual = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        for path in file.map({ [$0] }) ?? usual {
            if let data = FileManager.default.contents(atPath: path), !data.isEmpty { return data }
        }
        return ccurl_ca_folder() == nil ? nil : Data()
    }()

    private static let files = Locked<[Data: Int32]>([:])

    /// A file for a libcurl older than 7.77, in memory and no other process's.
    ///
    /// It stays for as long as this one runs, so that equal authorities have an equal path, by which libcurl compares
    /// connections.
    private static func file(of text: Data) throws(RequestError) -> String {
        let file = files.withLock { files in
            if let file = files[text] { return file }
            let file = text.withUnsafeBytes { ccurl_memory_file($0.baseAddress, $0.count) }
            if file >= 0 { files[text] = file }
            return file
        }
        guard file >= 0 else {
            throw RequestError(.other, phase: .sending, reason: "there is no room for a file of certificates")
        }
        return "/proc/self/fd/\(file)"
    }
}
#endif
