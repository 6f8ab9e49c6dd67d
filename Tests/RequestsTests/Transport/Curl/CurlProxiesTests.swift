// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

/// The hosts that `no_proxy` excepts, in whatever spelling.
@Suite(.bounded) struct CurlProxiesTests {
    private func isSentToProxy(_ address: String, _ exceptions: String, name: String = "no_proxy") -> Bool {
        let environment = ["all_proxy": "http://user:secret@proxy.example:3128", name: exceptions]
        return CurlProxies(.init(), environment: environment).proxy(for: CurlDestination(address)) != nil
    }

    @Test(arguments: [
        // Names.
        ("http://localhost./", "localhost"), ("http://localhost/", "localhost."), ("http://LOCALHOST/", "LocalHost"),
        ("http://api.example.com./", "example.com"), ("http://api.example.com/", "Example.COM."),
        ("https://xn--bcher-kva.example/", "b\u{FC}cher.example"),
        ("http://a.xn--bcher-kva.example/", "B\u{DC}CHER.example"),
        ("http://xn--bcher-kva.example/", "XN--BCHER-KVA.EXAMPLE"), ("http://a.example/", " x\t, a.example,"),
        // Addresses.
        ("http://127.1/", "127.0.0.1"), ("http://0x7f000001/", "127.0.0.1"), ("http://2130706433/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"), ("http://0x7F.1/", "127.0.0.1"), ("http://127.0.0.1./", "127.0.0.1"),
        ("http://127.0.0.1/", "127.1"), ("http://127.0.0.1/", "0x7f000001"),
        ("http://127.0.0.1/", "[::ffff:127.0.0.1]"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"), ("http://[::ffff:7f00:1]/", "127.0.0.1"),
        ("http://[0:0::1]/", "::1"), ("http://[::1]/", "[::1]"), ("http://[FE80::1]/", "[fe80:0::1]"),
        ("http://[fe80::1%25eth0]/", "fe80::1"),
        // Networks.
        ("http://10.1.2.3/", "10.0.0.0/8"), ("http://10.66051/", "10.0.0.0/8"),
        ("http://[::ffff:10.1.2.3]/", "10.0.0.0/8"),
        ("http://10.1.2.3/", "::ffff:10.0.0.0/104"), ("http://[fe80::1]/", "fe80::/10"),
        ("http://[fe80::1]/", "[fe80::]/10"),
        ("http://10.1.2.3:81/", "10.0.0.0/8:81"), ("http://10.1.2.3/", "0.0.0.0/0"),
        // Domains.
        ("http://a.internal.example/", "*.internal.example"), ("http://a.b.internal.example./", "*.Internal.Example."),
        ("http://a.internal.example/", ".internal.example"), ("http://internal.example/", ".internal.example"),
        ("http://a.xn--bcher-kva.example/", "*.b\u{FC}cher.example"), ("http://a.example/", "b.example,*"),
        // Ports.
        ("http://a.example:8080/", "a.example:8080"), ("http://a.example/", "a.example:80"),
        ("https://a.example/", "a.example:443"), ("http://b.a.example:81/", "*.a.example:81"),
        ("http://127.1:81/", "127.0.0.1:81"), ("http://[::1]:81/", "[0::1]:81"), ("https://x.example/", "*:443"),
    ])
    func excludedHostBypassesProxyInAnySpelling(address: String, exceptions: String) {
        #expect(!isSentToProxy(address, exceptions))
        #expect(!isSentToProxy(address, exceptions, name: "NO_PROXY"))
    }

    @Test(arguments: [
        ("http://example.com/", "ample.com"), ("http://example.com.evil.org/", "example.com"),
        ("http://example.com/", "."),
        ("http://example.com/", "*."), ("http://example.com/", ","), ("http://example.com/", "a.example.com"),
        ("http://internal.example/", "*.internal.example"), ("http://xinternal.example/", "*.internal.example"),
        ("http://127.0.0.2/", "127.0.0.1"), ("http://127.0.0.1/", "0.0.1"), ("http://127.0.0.1/", "*.0.0.1"),
        ("http://127.0.0.1/", "localhost"), ("http://localhost/", "127.0.0.1"), ("http://1.2.3.4/", "1.2.3.0/33"),
        ("http://1.2.3.4/", "1.2.3.0/x"), ("http://1.2.3.4/", "1.2.3.0/"), ("http://1.2.3.4/", "::/0"),
        ("http://[::1]/", "0.0.0.0/0"), ("http://[::2]/", "::1"), ("http://1.2.3.4/", "::ffff:0.0.0.0/95"),
        ("http://a.example:81/", "a.example:80"), ("https://a.example/", "a.example:80"),
        ("http://a.example/", "a.example:x"),
        ("http://[::1]:82/", "[::1]:81"), ("http://127.0.0.1.example/", "127.0.0.1"), ("http://a.example/", "*:443"),
    ])
    func otherHostUsesProxy(address: String, exceptions: String) {
        #expect(isSentToProxy(address, exceptions))
    }
}
#endif
