// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A folder whose files may be seen: what a target of a request means in it.
struct ServedFolder: Sendable {
    enum Finding: Sendable, Equatable {
        /// A plain file, by its path without links.
        case file(String)
        /// A folder: the names in it, those of folders with a slash.
        case folder(names: [String], title: String)
        /// A folder that was asked for without its slash, without which relative links in it would be wrong.
        case moved(to: String)
        /// No path at all.
        case malformed
        /// Nothing, or nothing that may be seen; which one isn't told.
        case nothing
    }

    let root: String

    /// What is at the target of a request, `/recipes/1.json?x=y`, whose query means nothing.
    func find(_ target: String) -> Finding {
        guard let path = Self.path(of: target) else { return .malformed }
        var names: [String] = []
        for part in path.split(separator: "/") {
            guard let name = String(part).removingPercentEncoding else { return .malformed }
            // A name that begins with a dot covers `.` and `..`; one with an encoded slash would be two.
            guard !Self.isHidden(name.utf8), !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else {
                return .nothing
            }
            names.append(name)
        }
        let candidate = ([root] + names).joined(separator: "/")
        guard let root = Self.realPath(root), let real = Self.realPath(candidate), Self.maySee(real, within: root)
        else {
            return .nothing
        }
        switch Self.kind(of: real) {
        case .regular:
            return path.hasSuffix("/") ? .nothing : .file(real)
        case .directory:
            guard path.hasSuffix("/") else {
                // With one slash in front: two would be the address of another server.
                return .moved(to: "/" + path.drop { $0 == "/" } + "/" + Self.query(of: target))
            }
            return index(of: real, within: root) ?? .folder(names: contents(of: real, within: root), title: path)
        case .other:
            return .nothing
        }
    }

    /// The path of a target in the form of an origin or an absolute address (RFC 9112, 3.2).
    private static func path(of target: String) -> String? {
        var rest = target.prefix { $0 != "?" }
        if !rest.hasPrefix("/"), let scheme = rest.range(of: "://") {
            rest = rest[scheme.upperBound...].drop { $0 != "/" }
            if rest.isEmpty { return "/" }
        }
        return rest.hasPrefix("/") ? String(rest) : nil
    }

    private static func query(of target: String) -> String {
        target.firstIndex(of: "?").map { String(target[$0...]) } ?? ""
    }

    private func index(of folder: String, within root: String) -> Finding? {
        guard let real = Self.realPath(folder + "/index.html"), Self.maySee(real, within: root),
            Self.kind(of: real) == .regular
        else { return nil }
        return .file(real)
    }

    private func contents(of folder: String, within root: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { !Self.isHidden($0.utf8) }.sorted().compactMap { name in
            guard let real = Self.realPath("\(folder)/\(name)"), Self.maySee(real, within: root) else { return nil }
            switch Self.kind(of: real) {
            case .regular: return name
            case .directory: return name + "/"
            case .other: return nil
            }
        }
    }

    private enum Kind { case regular, directory, other }

    private static func kind(of path: String) -> Kind {
        switch (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType {
        case .typeRegular?: .regular
        case .typeDirectory?: .directory
        default: .other
        }
    }

    /// The path without links and dots; nil where there is nothing.
    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether a path without links is in the root, and nothing on the way from there to it is hidden.
    ///
    /// What the path of the request hides, a link must not bring to light.
    private static func maySee(_ path: String, within root: String) -> Bool {
        guard path != root else { return true }
        let (path, root) = (path.utf8, (root == "/" ? root : root + "/").utf8)
        return path.starts(with: root)
            && !path.dropFirst(root.count).split(separator: UInt8(ascii: "/")).contains(where: isHidden)
    }

    /// Bytes, not characters: a combining character behind the dot would hide it.
    private static func isHidden(_ name: some Collection<UInt8>) -> Bool {
        name.first == UInt8(ascii: ".")
    }
}

// MARK: - Folder

extension MockServer {
    /// A handler that serves the files of a folder, as a plain web server does.
    ///
    /// ```swift
    /// let server = try MockServer(MockServer.folder(fixtures))
    /// ```
    ///
    /// `GET` and `HEAD` are answered; `Content-Type` follows the name. `ETag` and `Last-Modified` come with each file,
    /// and the preconditions of RFC 9110, 13 are judged by them; one range of bytes is given where it is asked for,
    /// under `If-Range` too. A folder is its `index.html`, or else a list of what is in it.
    ///
    /// Nothing outside the folder is ever served, whatever the path says and wherever links lead to; nor is what isn't a
    /// plain file, or whose name, or that of a folder on the way, begins with a dot, asked for by that name or by a link. The folder is looked at for every request.
    ///
    /// - Parameter url: The folder, a file URL.
    /// - Returns: The handler, for a server or for one of its routes.
    public static func folder(_ url: URL) -> Handler {
        let folder = ServedFolder(root: url.path)
        return { request in folder.answer(to: request) }
    }
}

extension ServedFolder {
    /// The answer to a request, which is for a file, for a folder, or for neither.
    func answer(to request: RecordedRequest) -> StubResponse {
        guard request.method == .get || request.method == .head else {
            return .text("only GET and HEAD\n", status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
        }
        switch find(request.target) {
        case .file(let path):
            guard let file = ServedFile(path: path) else { return Self.notFound }
            return file.answer(to: request)
        case .folder(let names, let title):
            return .data(Data(FolderListing(title: title, names: names).html.utf8), type: "text/html; charset=utf-8")
        case .moved(let target):
            return .redirect(to: target, status: .movedPermanently)
        case .malformed:
            return .text("the path is malformed\n", status: .badRequest)
        case .nothing:
            return Self.notFound
        }
    }

    private static var notFound: StubResponse { .text("there is no such file\n", status: .notFound) }
}

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
