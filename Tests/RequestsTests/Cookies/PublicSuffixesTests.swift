// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct PublicSuffixesTests {
    private let list = PublicSuffixes(
        parsing: """
            // ===BEGIN ICANN DOMAINS===
            com
            uk
            co.uk

            // ck : https://www.iana.org/domains/root/db/ck.html
            *.ck
            !www.ck
            *.Compute.example.com
            \u{516C}\u{53F8}.cn
            *.\u{C5}land.example
            !b\u{FC}cher.\u{C5}land.example
            """
    )

    @Test(arguments: [
        ("com", true), ("example.com", false), ("co.uk", true), ("example.co.uk", false), ("uk", true), ("ck", true),
        ("a.ck", true), ("www.ck", false), ("b.a.ck", false), ("compute.example.com", true),
        ("a.compute.example.com", true), ("b.a.compute.example.com", false), ("unheard-of", true),
        ("a.unheard-of", false), ("xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false), ("a.cn", false),
        ("xn--land-poa.example", true), ("a.xn--land-poa.example", true), ("b.a.xn--land-poa.example", false),
        ("xn--bcher-kva.xn--land-poa.example", false),
    ])
    func recognizesPublicSuffixes(domain: String, isSuffix: Bool) {
        #expect(list.contains(domain) == isSuffix)
    }

    @Test(arguments: ["com", "co.uk", "com.au", "github.io", "co.jp", "s3.amazonaws.com"])
    func bothListsContainCommonSuffixes(domain: String) {
        #expect(PublicSuffixes.short.contains(domain) && PublicSuffixes.system.contains(domain))
        #expect(
            !PublicSuffixes.short.contains("example.\(domain)") && !PublicSuffixes.system.contains("example.\(domain)")
        )
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/publicsuffix/public_suffix_list.dat")))
    func systemListIsPreferred() {
        #expect(PublicSuffixes.system.contains("city.kawasaki.jp") == false)
        #expect(PublicSuffixes.system.contains("other.kawasaki.jp") && PublicSuffixes.system.contains("kawasaki.jp"))
        #expect(PublicSuffixes.system.contains("compute.amazonaws.com"))
        #expect(PublicSuffixes.system.contains("xn--55qx5d.cn") && !PublicSuffixes.system.contains("a.xn--55qx5d.cn"))
        #expect(!PublicSuffixes.system.contains("www.ck"))
        #expect(!PublicSuffixes.short.contains("other.kawasaki.jp"))
    }
}
