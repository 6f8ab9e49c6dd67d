// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A folder whose files are served: finds the file or folder for a request's target.
struct ServedFolder: Sendable {
    enum Finding: Sendable, Equatable {
        /// A plain file, by its path without links.
        case file(String)
        /// A folder: its names, those of folders with a slash.
        case folder(names: [String], title: String)
        /// A folder that was requested without its slash, so that relative links in it would be wrong.
        case moved(to: String)
        /// The target has no path.
        case malformed
        /// Nothing, or nothing that may be served; the client can't tell which.
        case nothing
    }

    let root: String

    /// Returns what is at the target of a request, such as `/recipes/1.json?x=y`; its query is ignored.
    func find(_ target: String) -> Finding {
        guard let path = Self.path(of: target) else { return .malformed }
        var names: [String] = []
        for part in path.split(separator: "/") {
            guard let name = String(part).removingPercentEncoding else { return .malformed }
            // A leading dot covers `.` and `..`; an encoded slash would make two names of one.
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
                // With one slash in front: two would begin the address of another server.
                return .moved(to: "/" + path.drop { $0 == "/" } + "/" + Self.query(of: target))
            }
            return index(of: real, within: root) ?? .folder(names: contents(of: real, within: root), title: path)
        case .other:
            return .nothing
        }
    }

    /// Returns the path of a target in origin or absolute form (RFC 9112, 3.2).
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

    /// Returns the path without links and dots; `nil` if nothing is there.
    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether a path without links is inside the root, with no hidden name between the root and it.
    ///
    /// A link must not reveal a file that is hidden by its own path.
    private static func maySee(_ path: String, within root: String) -> Bool {
        guard path != root else { return true }
        let (path, root) = (path.utf8, (root == "/" ? root : root + "/").utf8)
        return path.starts(with: root)
            && !path.dropFirst(root.count).split(separator: UInt8(ascii: "/")).contains(where: isHidden)
    }

    /// Compares bytes, not characters: a combining character after the dot would hide it.
    private static func isHidden(_ name: some Collection<UInt8>) -> Bool {
        name.first == UInt8(ascii: ".")
    }
}

// MARK: - Folder

extension MockServer {
    /// Returns a handler that serves the files of a folder, as a plain web server does.
    ///
    /// ```swift
    /// let server = try MockServer(MockServer.folder(fixtures))
    /// ```
    ///
    /// It responds to `GET` and `HEAD`; `Content-Type` follows the file name. Each file has an `ETag` and a
    /// `Last-Modified`, which the preconditions of RFC 9110, 13 are compared to. One range of bytes is served on
    /// request, also under `If-Range`. A folder is served as its `index.html`, or else as a list of its contents.
    ///
    /// Nothing outside the folder is ever served, for any path or link. Inside it, only plain files are served. A file
    /// is hidden if its name, or that of a folder on the way, begins with a dot, even if a link leads to it. The folder
    /// is read for every request.
    ///
    /// - Parameter url: The folder, a file URL.
    /// - Returns: The handler, for a server or for one of its routes.
    public static func folder(_ url: URL) -> Handler {
        let folder = ServedFolder(root: url.path)
        return { request in folder.answer(to: request) }
    }
}

extension ServedFolder {
    /// Returns the response to a request: a file, a folder's list, a redirect or an error.
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

/// A page that links the contents of a folder.
struct FolderListing: Sendable {
    /// The path of the folder, as requested.
    var title: String
    /// The contents; the names of folders end with a slash.
    var names: [String]

    var html: String {
        let items = (title == "/" ? [] : ["../"]) + names
        let links = items.map { name in
            // With `./`, so that a name with a colon isn't read as a scheme.
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
        // Scalars, since a markup sign with an accent is another character, but still markup to a browser.
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
