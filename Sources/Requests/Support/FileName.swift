// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Creates safe file names from names that servers suggest.
///
/// The result is a single path component of at most 255 bytes, which is safe in any folder on every platform. It
/// contains no separator and no `..`, isn't hidden, and isn't the name of a Windows drive, stream or device. It also
/// contains no characters that change the direction of text, which could display `txt.exe` as `exe.txt`.
enum FileName {
    /// Returns a safe name from the first usable candidate: the suggestion, the URL, or the default.
    ///
    /// - Parameters:
    ///   - suggestion: The file name from `Content-Disposition`. Everything before the last separator is ignored
    ///     (RFC 6266, 4.3).
    ///   - url: The URL, whose last path component is the second candidate.
    ///   - name: The default name, which is made safe, too.
    /// - Returns: A name that is never empty.
    /// - Complexity: O(n) in the length of the arguments.
    static func safe(_ suggestion: String?, url: URL? = nil, default name: String = "download") -> String {
        for candidate in [suggestion, url?.lastPathComponent, name] {
            if let candidate, let name = safe(candidate) { return name }
        }
        return "download"
    }

    private static func safe(_ text: String) -> String? {
        // Compare Unicode scalars rather than characters. A dot with a combining accent isn't the character `.`, but a
        // file system still sees a dot.
        let separators: Set<Unicode.Scalar> = ["/", "\\"]
        let component = text.unicodeScalars.reversed().prefix { !separators.contains($0) }.reversed()
        let name = trimmed(component.filter(isVisible).map { forbidden.contains($0) ? "_" : $0 })
        guard !name.isEmpty else { return nil }
        let short = shortened(name, to: maximumLength)
        guard !short.isEmpty else { return nil }
        return isDevice(short) ? "_" + shortened(name, to: maximumLength - 1) : short
    }

    /// Removes dots and whitespace at both ends.
    ///
    /// A leading dot would hide the file, and Windows removes trailing dots.
    private static func trimmed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
        return scalars.drop(while: isEdge).reversed().drop(while: isEdge).reversed()
    }

    /// Shortens a name to a number of bytes, but keeps its extension; returns an empty string if no character fits.
    private static func shortened(_ name: [Unicode.Scalar], to limit: Int) -> String {
        let text = String(name)
        guard text.utf8.count > limit else { return text }
        var stem = name
        var ending = ""
        if let dot = name.lastIndex(of: ".") {
            let pathExtension = String(Array(name[dot...]))
            if pathExtension.utf8.count <= maximumExtensionLength {
                (stem, ending) = (Array(name[..<dot]), pathExtension)
            }
        }
        var room = limit - ending.utf8.count
        let beginning = String(stem).prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        return beginning.isEmpty ? "" : String(trimmed(Array(beginning.unicodeScalars))) + ending
    }

    /// Returns whether a scalar is visible; all other scalars are removed from names.
    ///
    /// Control characters aren't visible, and neither are characters that change the direction of text or have no
    /// width. Two joiners are allowed, because some languages and emoji need them.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }

    /// Returns whether Windows treats the name as a device, regardless of its extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = String(trimmed(Array(name.unicodeScalars.prefix { $0 != "." }))).uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(stem) { return true }
        let number = stem.unicodeScalars.last
        return stem.unicodeScalars.count == 4 && (stem.hasPrefix("COM") || stem.hasPrefix("LPT"))
            && number.map { "0123456789¹²³".unicodeScalars.contains($0) } == true
    }

    /// The characters that Windows forbids in names; a colon separates a drive from a path, and a file from its
    /// streams.
    private static let forbidden: Set<Unicode.Scalar> = [":", "*", "?", "\"", "<", ">", "|"]
    private static let maximumLength = 255
    private static let maximumExtensionLength = 32
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
