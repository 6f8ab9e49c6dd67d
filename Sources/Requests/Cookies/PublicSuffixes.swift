// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The domains under which anybody can register a name, such as `co.uk` and `github.io` (publicsuffix.org).
///
/// A cookie for such a domain isn't stored, because it would be sent to unrelated parties.
struct PublicSuffixes: Sendable {
    private var suffixes: Set<String> = []
    /// The domains whose direct subdomains are all public suffixes.
    private var wildcards: Set<String> = []
    /// The exceptions, which aren't suffixes although a wildcard includes them.
    private var exceptions: Set<String> = []

    /// The list from the Linux package `publicsuffix` or from `libpsl`; otherwise, the short list.
    ///
    /// The list is read once, when the first cookie with a `Domain` arrives.
    static let system =
        files.lazy.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first
        .map { PublicSuffixes(parsing: $0) } ?? short

    private static let files = [
        "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/local/share/publicsuffix/public_suffix_list.dat",
        "/opt/homebrew/share/publicsuffix/public_suffix_list.dat",
    ]

    /// The most common public suffixes, for systems without a list.
    static let short = PublicSuffixes(
        parsing: """
            co.uk org.uk ac.uk gov.uk me.uk ltd.uk com.au net.au org.au edu.au gov.au co.nz org.nz co.jp ne.jp or.jp
            ac.jp go.jp co.kr or.kr co.in org.in co.za org.za com.br org.br com.cn org.cn com.hk com.sg com.tw com.mx
            com.ar com.tr com.pl com.ua com.my com.ph com.vn com.co com.pe com.eg com.sa co.il org.il co.id co.th com.es
            com.pt com.gr github.io gitlab.io herokuapp.com vercel.app netlify.app pages.dev workers.dev web.app
            firebaseapp.com appspot.com run.app azurewebsites.net azurestaticapps.net cloudapp.net cloudfront.net
            blogspot.com fly.dev onrender.com s3.amazonaws.com ngrok.io ngrok-free.app myshopify.com wordpress.com
            translate.goog glitch.me surge.sh readthedocs.io bitbucket.io
            """
    )

    /// Parses a list in the format of publicsuffix.org, with one rule per line or per word.
    ///
    /// Hosts are compared in their ASCII form, so rules with non-ASCII characters are converted to it.
    ///
    /// - Complexity: O(n) in the length of the list.
    init(parsing list: String) {
        for line in list.utf8.split(separator: UInt8(ascii: "\n")) where !line.starts(with: "//".utf8) {
            for word in line.split(whereSeparator: { $0 <= 0x20 }) { add(Substring(word)) }
        }
    }

    private mutating func add(_ rule: Substring) {
        if rule.hasPrefix("!") {
            exceptions.insert(Self.domain(rule.dropFirst()))
        } else if rule.hasPrefix("*.") {
            wildcards.insert(Self.domain(rule.dropFirst(2)))
        } else {
            suffixes.insert(Self.domain(rule))
        }
    }

    private static func domain(_ text: Substring) -> String { String(text).wireHost.lowercasedASCII }

    /// Returns whether a domain, in lower case and ASCII, is a public suffix; a domain with a single label always is.
    func contains(_ domain: String) -> Bool {
        guard let dot = domain.firstIndex(of: ".") else { return true }
        guard !exceptions.contains(domain) else { return false }
        // All subdomains of a wildcard's parent are public, so a cookie for the parent would be sent to all of them.
        return suffixes.contains(domain) || wildcards.contains(domain)
            || wildcards.contains(String(domain[domain.index(after: dot)...]))
    }
}
