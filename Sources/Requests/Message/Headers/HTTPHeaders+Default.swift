// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPHeaders {
    /// The program and its languages: `User-Agent`, and `Accept-Language` where the system knows the user's languages,
    /// which it does on Apple platforms only.
    ///
    /// Every request has them unless it, or its ``RequestEnvironment``, sets others: some servers refuse requests
    /// without `User-Agent`. Both reveal something about the user, and can be left out:
    ///
    /// ```swift
    /// let client = HTTPClient(baseURL: url) { $0.headers = [] }
    /// ```
    ///
    /// `Accept-Encoding` isn't among them: a transport sets the codings that it can decode, and content in any other
    /// would arrive undecoded.
    public static let `default` = HTTPHeaders(
        [languages, .userAgent(RunningProgram.userAgent)].compactMap { $0?.attributedToLibrary() }
    )

    private static var languages: HTTPField? {
        #if canImport(FoundationNetworking)
        // Foundation on Linux names the same language for every user, whatever the environment says.
        nil
        #else
        .preferredLanguages(Locale.preferredLanguages)
        #endif
    }
}

extension HTTPField {
    /// The first six of the languages that are valid language tags; `nil` if there are none.
    static func preferredLanguages(_ languages: [String]) -> HTTPField? {
        let tags = languages.filter { language in
            !language.isEmpty && language.utf8.count <= 35 && ASCIISet.label.containsAll(language)
        }
        return tags.isEmpty ? nil : .acceptLanguage(Array(tags.prefix(6)))
    }
}

/// The identification of the running program.
enum RunningProgram {
    /// The name and version of this library.
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

    /// The system; on Linux without its version, that of the kernel, which tells an attacker what is unpatched.
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

    /// The value of `User-Agent` (RFC 9110, 10.1.5):
    /// `Recipes/2.1 (com.example.recipes; build:42; iOS 17.0.1) Requests/0.1.0`.
    ///
    /// Unknown parts are left out. Whatever an application's bundle contains, the value is a valid field of a few
    /// hundred bytes.
    static func userAgent(
        name: String,
        version: String? = nil,
        bundle: String? = nil,
        build: String? = nil,
        system: String
    ) -> String {
        // At most 64 bytes of a text, with `_` in the place of bytes that aren't allowed.
        func fit(_ text: String, _ allowed: ASCIISet) -> String {
            String(decoding: text.utf8.prefix(64).map { allowed.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        }
        let pieces = [name.isEmpty ? "Unknown" : name, version ?? ""].filter { !$0.isEmpty }
        let product = pieces.map { fit($0, .token) }.joined(separator: "/")
        let comment = [bundle, build.map { "build:\($0)" }, system].compactMap(\.self).map { fit($0, .token + " :/") }
        return "\(product) (\(comment.joined(separator: "; "))) \(library)"
    }
}
