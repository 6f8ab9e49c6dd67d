// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded, .enabled(if: CurlFeatures.loaded.sharesCertificateStores)) struct CurlStoreTests {
    /// A set of authorities: those of the system in a file, in a folder, or in both, and a policy's own.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var hasFile = false
        var hasFolder = false
        var includesSystem = true
        var hasOwn = false
        var isTrusting = true
    }

    static let rows: [Row] = [
        Row(testDescription: "a file and a folder", hasFile: true, hasFolder: true),
        Row(testDescription: "only a file", hasFile: true), Row(testDescription: "only a folder", hasFolder: true),
        Row(testDescription: "both, and one's own", hasFile: true, hasFolder: true, hasOwn: true),
        Row(testDescription: "one's own instead", hasFile: true, includesSystem: false, hasOwn: true),
        Row(testDescription: "one's own without a system", hasOwn: true),
        Row(testDescription: "none", isTrusting: false),
        Row(testDescription: "none at all", hasFile: true, hasFolder: true, includesSystem: false, isTrusting: false),
    ]

    private func store(_ row: Row, in folder: TemporaryFolder) throws -> CertificateStoreCache {
        let (file, hashed) = (folder.url.appending(path: "bundle.pem"), folder.url.appending(path: "hashed"))
        if row.hasFile { try Data(CertificateSample.rsa.pem.utf8).write(to: file) }
        try FileManager.default.createDirectory(at: hashed, withIntermediateDirectories: true)
        if row.hasFolder { try Data(CertificateSample.rsa.pem.utf8).write(to: hashed.appending(path: "0123abcd.0")) }
        return CertificateStoreCache(
            HostTrust.Authorities(
                includesSystem: row.includesSystem,
                certificates: row.hasOwn ? [try TrustPolicy.Certificate(pem: CertificateSample.ec.pem)] : []
            ),
            system: CertificateStoreCache.SystemPaths(file: file.path, folder: hashed.path)
        )
    }

    @Test(arguments: rows) func storeIsParsedOnceForAllConnections(_ row: Row) throws {
        let folder = TemporaryFolder()
        let store = try store(row, in: folder)

        let certificates = store.current()

        #expect((certificates !== nil) == row.isTrusting)
        for _ in 1...64 { #expect(store.current() === certificates) }
    }

    @Test func systemStoreChangeAppliesToNextConnection() throws {
        let folder = TemporaryFolder()
        let store = try store(Row(testDescription: "", hasFile: true, hasFolder: true), in: folder)
        let file = folder.url.appending(path: "bundle.pem")
        var seen = [store.current()]

        try Data(CertificateSample.ec.pem.utf8).write(to: file, options: .atomic)
        seen.append(store.current())
        #expect(store.current() === seen[1])
        try FileManager.default.removeItem(at: file)
        seen.append(store.current())
        try FileManager.default.removeItem(at: folder.url.appending(path: "hashed"))

        #expect(Set(seen.map { $0.map(ObjectIdentifier.init) }).count == 3)
        #expect(seen.allSatisfy { $0 !== nil })
        #expect(store.current() === nil)
    }

    @Test func folderWithoutHashedNamesIsNotTrusted() throws {
        let folder = TemporaryFolder()
        try Data(CertificateSample.rsa.pem.utf8).write(to: folder.url.appending(path: "authority.pem"))
        let paths = CertificateStoreCache.SystemPaths(file: nil, folder: folder.url.path)

        #expect(CertificateStoreCache(HostTrust.Authorities(), system: paths).current() === nil)
    }

    /// libcurl ends a connection for which it finds nothing to parse.
    @Test func emptyRevocationListIsParsed() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "nobody.pem")
        try CertificateStoreCache.emptyRevocationList.write(to: file)
        let paths = CertificateStoreCache.SystemPaths(file: file.path, folder: nil)

        #expect(CertificateStoreCache(HostTrust.Authorities(), system: paths).current() !== nil)
    }
}
#endif
