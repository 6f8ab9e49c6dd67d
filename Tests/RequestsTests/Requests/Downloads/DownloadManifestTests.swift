// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct DownloadManifestTests {
    private static let change = "Sun, 06 Nov 1994 08:49:37 GMT"
    private let url = URL(string: "https://user:secret@example.com/film.mov?signature=secret#there")!
    private let now = Date(timeIntervalSince1970: 1_783_728_000)

    @Test(
        arguments: [
            (["ETag": "\"a\""], .tag("a")), (["ETag": "\"a\"", "Last-Modified": change], .tag("a")),
            (["ETag": "\"a\"", "Accept-Ranges": "bytes"], .tag("a")),
            (["ETag": "\"a\"", "Content-Encoding": "identity"], .tag("a")),
            (["Last-Modified": change, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"], .date(change)),
            // A time that two versions may share.
            (["Last-Modified": change, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil), (["Last-Modified": change], nil),
            (["Last-Modified": "yesterday", "Date": change], nil),
            // A weak tag, also with a time, and no tag.
            (["ETag": "W/\"a\""], nil), (["ETag": "\""], nil), ([:], nil),
            (["ETag": "W/\"a\"", "Last-Modified": change, "Date": "Sun, 06 Nov 1995 08:50:37 GMT"], nil),
            // Positions that aren't those of the file, and no positions.
            (["ETag": "\"a\"", "Content-Encoding": "gzip"], nil), (["ETag": "\"a\"", "Accept-Ranges": "none"], nil),
        ] as [([String: String], DownloadManifest.Validator?)]
    )
    func strongValidatorsAreKept(
        fields: [String: String],
        validator: DownloadManifest.Validator?
    ) {
        let head = HTTPResponseHead(status: .ok, headers: HTTPHeaders(fields))

        #expect(DownloadManifest(head, url: url, now: now)?.validator == validator)
    }

    @Test(
        arguments: [("1000", 1000), ("0", 0), ("-1", nil), ("1,000", nil), ("", nil), ("99999999999999999999", nil)]
            as [(String, Int64?)]
    )
    func theLengthIsOneNumber(text: String, total: Int64?) {
        let head = HTTPResponseHead(
            status: .ok,
            headers: [HTTPField(.eTag, "\"a\""), HTTPField(.contentLength, text)]
        )

        #expect(DownloadManifest(head, url: url, now: now)?.total == total)
    }

    @Test func storedManifestHasNoSecretAndIsReadBack() throws {
        let head = HTTPResponseHead(status: .ok, headers: [HTTPField(.eTag, "\"a\"")])
        let manifest = try #require(DownloadManifest(head, url: url, now: now))

        let data = try JSONEncoder().encode(manifest)

        #expect(try JSONDecoder().decode(DownloadManifest.self, from: data) == manifest)
        #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
    }

    @Test func credentialsAndFragmentMakeNoOtherAddress() throws {
        let plain = try #require(URL(string: "https://example.com/film.mov?signature=secret"))
        let other = try #require(URL(string: "https://example.com/film.mov?signature=another"))

        #expect(DownloadManifest.digest(of: url) == DownloadManifest.digest(of: plain))
        #expect(DownloadManifest.digest(of: url) != DownloadManifest.digest(of: other))
    }
}
