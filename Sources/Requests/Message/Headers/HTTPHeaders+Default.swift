// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPHeaders {
    /// Who asks, and in which languages: `User-Agent` and `Accept-Language`, as the system knows them.
    ///
    /// Not sent unless asked for, since both tell something about the user:
    ///
    /// ```swift
    /// request.headers.merge(.default)
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
