// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPHeaders {
    /// Who asks, and in which languages: `User-Agent` and `Accept-Language`, as the system knows them.
    ///
    /// Every request has them unless it, or its ``RequestEnvironment``, says otherwise: there are servers that refuse requests
    /// without `User-Agent`. Both tell something about the user, and can be left out:
    ///
    /// ```swift
    /// let client = HTTPClient(baseURL: url) { $0.headers = [] }
    /// ```
    ///
    /// `Accept-Encoding` isn't among them: a transport says by itself what it can decode, and a coding that it can't
    /// would arrive as it is.
    public static let `default`: HTTPHeaders = [
        .preferredLanguages(Locale.preferredLanguages),
        .userAgent(RunningProgram.current.userAgent),
    ]
}

extension HTTPField {
    /// The first six languages that are language tags; any, where none is.
    static func preferredLanguages(_ languages: [String]) -> HTTPField {
        let tags = languages.filter { language in
            !language.isEmpty && language.utf8.count <= 35
                && language.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
        }
        return .acceptLanguage(tags.isEmpty ? ["*"] : Array(tags.prefix(6)))
    }
}

/// What a program says of itself: `Recipes/2.1 (com.example.recipes; build:42; Linux 6.1.0) Requests/0.1.0`.
///
/// What isn't known is left out. Whatever an application's bundle says, the value is a valid field of a few hundred
/// bytes.
struct RunningProgram: Sendable {
    var name: String
    var version: String?
    var bundle: String?
    var build: String?
    var system: String

    /// This library, as it calls itself.
    static let library = "Requests/0.1.0"

    /// The program that is running.
    static var current: RunningProgram {
        let information = Bundle.main.infoDictionary ?? [:]
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return RunningProgram(
            name: information["CFBundleExecutable"] as? String ?? ProcessInfo.processInfo.processName,
            version: information["CFBundleShortVersionString"] as? String,
            bundle: Bundle.main.bundleIdentifier,
            build: information["CFBundleVersion"] as? String,
            system: "\(systemName) \(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        )
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
        #elseif os(Android)
        "Android"
        #elseif os(Windows)
        "Windows"
        #else
        "Unknown"
        #endif
    }

    /// The value of `User-Agent` (RFC 9110, 10.1.5).
    var userAgent: String {
        let pieces = [name.isEmpty ? "Unknown" : name, version ?? ""].filter { !$0.isEmpty }
        let product = pieces.map { Self.fit($0, ASCII.isToken) }.joined(separator: "/")
        let comment = [bundle, build.map { "build:\($0)" }, system].compactMap(\.self)
            .map { Self.fit($0) { ASCII.isToken($0) || " :/".utf8.contains($0) } }
        return "\(product) (\(comment.joined(separator: "; "))) \(Self.library)"
    }

    /// At most 64 bytes of a text, with `_` in the place of those that can't stand there.
    private static func fit(_ text: String, _ isFine: (UInt8) -> Bool) -> String {
        String(decoding: text.utf8.prefix(64).map { isFine($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}
