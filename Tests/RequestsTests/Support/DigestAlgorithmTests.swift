// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The test vectors of RFC 1321 and FIPS 180-4, and of lengths around a block, computed by OpenSSL.
@Suite(.bounded) struct DigestAlgorithmTests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("The quick brown fox jumps over the lazy dog", "9e107d9d372bb6826bd81d3542a419d6"),
        (String(repeating: "a", count: 55), "ef1772b6dff9a122358552954ad0df65"),
        (String(repeating: "a", count: 56), "3b0c8ac703f828b04c6c197006d17218"),
        (String(repeating: "a", count: 63), "b06521f39153d618550606be297466d5"),
        (String(repeating: "a", count: 64), "014842d480b571495a4a0363793f7367"),
        (String(repeating: "a", count: 65), "c743a45e0d2e6a95cb859adae0248435"),
        (String(repeating: "a", count: 111), "089f243d1e831c5879aa375ee364a06e"),
        (String(repeating: "a", count: 112), "9146ef3527c7cfcc66dc615c3986e391"),
        (String(repeating: "a", count: 119), "8a7bd0732ed6a28ce75f6dabc90e1613"),
        (String(repeating: "a", count: 120), "5f61c0ccad4cac44c75ff505e1f1e537"),
        (String(repeating: "a", count: 127), "020406e1d05cdc2aa287641f7ae2cc39"),
        (String(repeating: "a", count: 128), "e510683b3f5ffe4093d021808bc6ff70"),
        (String(repeating: "a", count: 129), "b325dc1c6f5e7a2b7cf465b9feab7948"),
        (String(repeating: "a", count: 300), "4e5475d125a33c6190718e75adc1b704"),
    ])
    func md5MatchesReferenceValues(text: String, digest: String) {
        #expect(MD5.digest(of: text.utf8).hexadecimal == digest)
    }

    @Test(arguments: [
        ("", "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"),
        ("abc", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"),
        (
            "The quick brown fox jumps over the lazy dog",
            "07e547d9586f6a73f73fbac0435ed76951218fb7d0c8d788a309d785436bbb64"
        ),
        (String(repeating: "a", count: 55), "b0220c772cbf6c1822e2cb38a437d0e1d58772417a4bbb21c961364f8b6143e0"),
        (String(repeating: "a", count: 56), "962b64aae357d2a4fee3ded8b539bdc9d325081822b0bfc55583133aab44f18b"),
        (String(repeating: "a", count: 63), "c1b0f5c6d3b03dfe4a2602e67242f54e344090b66e01100a469b129f583f016c"),
        (String(repeating: "a", count: 64), "01d35c10c6c38c2dcf48f7eebb3235fb5ad74a65ec4cd016e2354c637a8fb49b"),
        (String(repeating: "a", count: 65), "b83086cd8494e55708ad7ecd82dfb4bca1bda61ecbb7caf0c68967902e709345"),
        (String(repeating: "a", count: 111), "fa9121c7b32b9e01733d034cfc78cbf67f926c7ed83e82200ef8681819692176"),
        (String(repeating: "a", count: 112), "c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e75d54c2503b5dc32"),
        (String(repeating: "a", count: 119), "130396a75cb483f2eee8c56d8a668bb3d2641f5243212c0bee2bd33da096ad9e"),
        (String(repeating: "a", count: 120), "f241de612b01aa2fa3cf01531d2a8e5e17fc761dfd48a704a834a47f57d6eade"),
        (String(repeating: "a", count: 127), "828613968b501dc00a97e08c73b118aa8876c26b8aac93df128502ab360f91ba"),
        (String(repeating: "a", count: 128), "b73d1929aa615934e61a871596b3f3b33359f42b8175602e89f7e06e5f658a24"),
        (String(repeating: "a", count: 129), "4f681e0bd53cda4b5a2041cc8a06f2eabde44fb16c951fbd5b87702f07aeab61"),
        (String(repeating: "a", count: 300), "a6a77010dd9696c23831e6549de51724df332c2075039b75fcfe6c2e6de42fbd"),
    ])
    func sha512MatchesReferenceValues(text: String, digest: String) {
        #expect(SHA512.digest(of: text.utf8).prefix(32).hexadecimal == digest)
    }

    @Test(arguments: [
        ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (
            "The quick brown fox jumps over the lazy dog",
            "dd9d67b371519c339ed8dbd25af90e976a1eeefd4ad3d889005e532fc5bef04d"
        ),
        (String(repeating: "a", count: 55), "f6513468f05e7cec7d52fc337ef79dfa7c82520268d3aeba4002ead9a5642916"),
        (String(repeating: "a", count: 56), "baa8bd7fb02a11878c6a1d5400f06ec5d96cd6f566da032f8dcbb602beea4ca5"),
        (String(repeating: "a", count: 63), "3c4458337119e69459650d3851234acd0300b39640803807b139ffc1da44c8ba"),
        (String(repeating: "a", count: 64), "2c3fa8f196f2aac65f15166666ecc77bd9fe195bae83ef06bb75c7857c163db9"),
        (String(repeating: "a", count: 65), "bf4196e5f652f84a5a6655400236cf0167399c36c4e268f6d472ab5eef405c24"),
        (String(repeating: "a", count: 111), "0239e429f98d0ed61ee8e2a7c30afe98c1c3a80ce5dff62a107e9c538f7632ce"),
        (String(repeating: "a", count: 112), "9216b5303edb66504570bee90e48ea5beaa5e9fe9f760bbd3e0460559fc005f6"),
        (String(repeating: "a", count: 119), "6cb452f832033489de69b49d6a8e8a1e0018092f1986c132287f4ca4ab3ee545"),
        (String(repeating: "a", count: 120), "2e6ca4d879d367d7708701ed2e448540d04a6b8fcd2b0806278cf36090b9ba2b"),
        (String(repeating: "a", count: 127), "2fe3b2a6ee7e12f6fe4ba82166541ad9b4ed882c493581cbe300d68f3757b778"),
        (String(repeating: "a", count: 128), "b88f97e274f9c1d49f181c8cbd01a9c74930ad055a46ac4499a1d601f1c80bf2"),
        (String(repeating: "a", count: 129), "fb9035c9009ed4a60e37510339ebdb1c771339f30aa581d5dea3690a524c23f1"),
        (String(repeating: "a", count: 300), "19f6f40dff1362d4798293b101b08b0e7d6ca4748780c164701ecce2412e3d17"),
    ])
    func sha512Slash256MatchesReferenceValues(text: String, digest: String) {
        #expect(SHA512.digest256(of: text.utf8).hexadecimal == digest)
    }
}
