// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A page that links what is in a folder.
struct FolderListing: Sendable {
    /// The path of the folder, as it was asked for.
    var title: String
    /// What is in it; the names of folders end with a slash.
    var names: [String]

    var html: String {
        let items = (title == "/" ? [] : ["../"]) + names
        let links = items.map { name in
            // With `./`, so that a colon in a name doesn't make the rest of it a path.
            "<li><a href=\"./\(Self.escaped(Self.percentEncoded(name)))\">\(Self.escaped(name))</a></li>\n"
        }
        let title = Self.escaped(title)
        return """
            <!DOCTYPE html>
            <html><head><meta charset="utf-8"><title>\(title)</title></head>
            <body><h1>\(title)</h1>
            <ul>
            \(links.joined())</ul>
            </body></html>

            """
    }

    private static func percentEncoded(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(ascii).union(marks)) ?? name
    }

    private static let ascii = CharacterSet(charactersIn: "\u{0}"..."\u{7F}")
    private static let marks = CharacterSet(charactersIn: "-._~/")

    private static func escaped(_ text: String) -> String {
        // Scalars, since a sign with an accent is another character, and still the sign to a browser.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
