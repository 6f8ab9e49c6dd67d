// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes names of files of what servers suggest.
///
/// What comes out is one component of a path, and a file of that name is in the folder where it is put, on every
/// system that the file may get to: no separator, no `..`, no drive or stream, nothing hidden, nothing that turns the
/// reading direction and shows `exe.txt` for `txt.exe`, no device of Windows, and no more than 255 bytes.
enum FileName {
    /// A safe name: of the suggestion, of the address where that leaves nothing, and else the default.
    ///
    /// - Parameters:
    ///   - suggestion: What `Content-Disposition` says. What stands before a separator is passed over (RFC 6266, 4.3).
    ///   - url: The address, whose last component is next.
    ///   - name: What is used at last; made safe too.
    /// - Returns: A name that is never empty.
    /// - Complexity: O(n) in the length of what is given.
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
        return String(isDevice(short) ? "_" + shortened(name, to: longest - 1) : short)
    }

    /// Without dots at the beginning, which hide, dots at the end, which Windows drops, and blanks at both.
    private static func trimmed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
        return scalars.drop(while: isEdge).reversed().drop(while: isEdge).reversed()
    }

    /// As much of a name as there is room for; the extension stays, where it is one.
    private static func shortened(_ name: [Unicode.Scalar], to limit: Int) -> String {
        let text = String(name)
        guard text.utf8.count > limit else { return text }
        var stem = name
        var ending = ""
        if let dot = name.lastIndex(of: ".") {
            let pathExtension = String(Array(name[dot...]))
            if pathExtension.utf8.count <= longestExtension { (stem, ending) = (Array(name[..<dot]), pathExtension) }
        }
        let room = limit - ending.utf8.count
        return String(trimmed(prefix(of: stem, bytes: room))) + ending
    }

    /// The characters that fit; where not even the first does, since accents are piled up on it, a part of it.
    private static func prefix(of scalars: [Unicode.Scalar], bytes: Int) -> [Unicode.Scalar] {
        var count = 0
        let characters = String(scalars).prefix { character in
            count += character.utf8.count
            return count <= bytes
        }
        guard characters.isEmpty else { return Array(characters.unicodeScalars) }
        count = 0
        return Array(
            scalars.prefix { scalar in
                count += UTF8.width(scalar)
                return count <= bytes
            }
        )
    }

    /// Whether it is there to be seen: no control character, none that turns the direction or is nothing at all.
    ///
    /// Two that join letters are needed in some languages, and in emoji.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }

    /// Whether Windows takes the name for a device, whatever its extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = String(trimmed(Array(name.unicodeScalars.prefix { $0 != "." }))).uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(stem) { return true }
        let number = stem.unicodeScalars.last
        return stem.unicodeScalars.count == 4 && (stem.hasPrefix("COM") || stem.hasPrefix("LPT"))
            && number.map { "0123456789¹²³".unicodeScalars.contains($0) } == true
    }

    /// What Windows allows in no name; a colon parts a drive from a path, or a file from its streams.
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
