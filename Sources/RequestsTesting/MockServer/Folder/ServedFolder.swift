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
