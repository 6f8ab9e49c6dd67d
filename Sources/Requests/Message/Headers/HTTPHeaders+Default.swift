// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPHeaders {
    /// The default header fields, which describe the program (`User-Agent`) and the user's languages
    /// (`Accept-Language`).
    ///
    /// `Accept-Language` is included only on Apple platforms, where the system knows the user's languages. Every
    /// request sends these fields, unless it or its ``RequestEnvironment`` sets other values, because some servers
    /// reject requests without `User-Agent`. Both fields reveal something about the user, so you can omit them:
    ///
    /// ```swift
    /// let client = HTTPClient(baseURL: url) { $0.headers = [] }
    /// ```
    ///
    /// `Accept-Encoding` isn't included, because transports declare the codings that they can decode themselves.
    /// Content in any other coding would arrive undecoded.
    public static let `default` = HTTPHeaders(
        [languages, .userAgent(RunningProgram.userAgent)].compactMap { $0?.attributedToLibrary() }
    )

    private static var languages: HTTPField? {
        #if canImport(FoundationNetworking)
        // Foundation on Linux reports the same language for every user, whatever the environment variables specify.
        nil
        #else
        .preferredLanguages(Locale.preferredLanguages)
        #endif
    }
}

extension HTTPField {
    /// Creates an `Accept-Language` field with the first six valid language tags; returns `nil` if there are none.
    static func preferredLanguages(_ languages: [String]) -> HTTPField? {
        let tags = languages.filter { language in
            !language.isEmpty && language.utf8.count <= 35 && ASCIISet.label.containsAll(language)
        }
        return tags.isEmpty ? nil : .acceptLanguage(Array(tags.prefix(6)))
    }
}

/// Describes the running program for the `User-Agent` field.
enum RunningProgram {
    /// The product token of this library, with its name and version.
    static let library = "Requests/0.1.0"

    /// The value of `User-Agent` for the running program.
    static var userAgent: String {
        let information = Bundle.main.infoDictionary ?? [:]
        return userAgent(
            name: information["CFBundleExecutable"] as? String ?? ProcessInfo.processInfo.processName,
            version: information["CFBundleShortVersionString"] as? String,
            bundle: Bundle.main.bundleIdentifier,
            build: information["CFBundleVersion"] as? String,
            system: system
        )
    }

    /// The operating system and its version.
    ///
    /// On Linux the version is omitted, because the kernel version would tell attackers which vulnerabilities are
    /// unpatched.
    private static var system: String {
        #if os(Linux)
        systemName
        #else
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(systemName) \(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        #endif
    }

    private static var systemName: String {
        #if os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #elseif os(Linux)
        "Linux"
        #else
        "Unknown"
        #endif
    }

    /// Returns a value for `User-Agent` (RFC 9110, 10.1.5), such as
    /// `Recipes/2.1 (com.example.recipes; build:42; iOS 17.0.1) Requests/0.1.0`.
    ///
    /// Unknown parts are omitted. The result is always a valid field value of a few hundred bytes, whatever the
    /// application's bundle contains.
    static func userAgent(
        name: String,
        version: String? = nil,
        bundle: String? = nil,
        build: String? = nil,
        system: String
    ) -> String {
        // Truncates a string to 64 bytes, and replaces bytes that aren't allowed with `_`.
        func fit(_ text: String, _ allowed: ASCIISet) -> String {
            String(decoding: text.utf8.prefix(64).map { allowed.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        }
        let parts = [name.isEmpty ? "Unknown" : name, version ?? ""].filter { !$0.isEmpty }
        let product = parts.map { fit($0, .token) }.joined(separator: "/")
        let comment = [bundle, build.map { "build:\($0)" }, system].compactMap(\.self).map { fit($0, .token + " :/") }
        return "\(product) (\(comment.joined(separator: "; "))) \(library)"
    }
}
