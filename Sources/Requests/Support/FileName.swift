// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes file names from the suggestions of servers.
///
/// The result is one component of a path, safe in any folder on every system: it has no separator, no `..`, no drive or
/// stream, isn't hidden, has no characters that change the reading direction and show `exe.txt` for `txt.exe`, isn't a
/// device of Windows, and has at most 255 bytes.
enum FileName {
    /// Returns a safe name: of the suggestion, else of the address, else the default.
    ///
    /// - Parameters:
    ///   - suggestion: The name of `Content-Disposition`. The text before a separator is ignored (RFC 6266, 4.3).
    ///   - url: The address, whose last component is used next.
    ///   - name: The default; made safe too.
    /// - Returns: A name that is never empty.
    /// - Complexity: O(n) in the length of the arguments.
    static func safe(_ suggestion: String?, url: URL? = nil, default name: String = "download") -> String {
        for candidate in [suggestion, url?.lastPathComponent, name] {
            if let candidate, let name = safe(candidate) { return name }
        }
        return "download"
    }

    private static func safe(_ text: String) -> String? {
        // Scalars, since a dot with an accent is another character than a dot, and still a dot to a file system.
        let separators: Set<Unicode.Scalar> = ["/", "\\"]
        let component = text.unicodeScalars.reversed().prefix { !separators.contains($0) }.reversed()
        let name = trimmed(component.filter(isVisible).map { forbidden.contains($0) ? "_" : $0 })
        guard !name.isEmpty else { return nil }
        let short = shortened(name, to: longest)
        guard !short.isEmpty else { return nil }
        return isDevice(short) ? "_" + shortened(name, to: longest - 1) : short
    }

    /// Removes dots at the beginning, which hide, dots at the end, which Windows drops, and blanks at both.
    private static func trimmed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
        return scalars.drop(while: isEdge).reversed().drop(while: isEdge).reversed()
    }

    /// Returns as much of a name as fits, with its extension; nothing if the first character doesn't fit.
    private static func shortened(_ name: [Unicode.Scalar], to limit: Int) -> String {
        let text = String(name)
        guard text.utf8.count > limit else { return text }
        var stem = name
        var ending = ""
        if let dot = name.lastIndex(of: ".") {
            let pathExtension = String(Array(name[dot...]))
            if pathExtension.utf8.count <= longestExtension { (stem, ending) = (Array(name[..<dot]), pathExtension) }
        }
        var room = limit - ending.utf8.count
        let beginning = String(stem).prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        return beginning.isEmpty ? "" : String(trimmed(Array(beginning.unicodeScalars))) + ending
    }

    /// Whether it is visible: no control character, and none that changes the direction or has no width.
    ///
    /// Two joiners are allowed, which some languages and emoji need.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }

    /// Whether Windows treats the name as a device, whatever its extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = String(trimmed(Array(name.unicodeScalars.prefix { $0 != "." }))).uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(stem) { return true }
        let number = stem.unicodeScalars.last
        return stem.unicodeScalars.count == 4 && (stem.hasPrefix("COM") || stem.hasPrefix("LPT"))
            && number.map { "0123456789¹²³".unicodeScalars.contains($0) } == true
    }

    /// Characters that Windows forbids in names; a colon separates a drive from a path, or a file from its streams.
    private static let forbidden: Set<Unicode.Scalar> = [":", "*", "?", "\"", "<", ">", "|"]
    private static let longest = 255
    private static let longestExtension = 32
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
