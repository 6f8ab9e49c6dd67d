// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests

/// The calls of the system that decide what is on the disk after a loss of power, for the files of one folder.
///
/// The program of the tests has functions with the names of the system's, which the linker prefers. Outside of watched
/// folders they do the same as those.
final class DiskCalls: Sendable {
    /// A call for a file, whose name is relative to the folder; that of the folder itself is empty.
    enum Call: Sendable, Hashable {
        case sync(String)
        case rename(String, to: String)
        case unlink(String)
    }

    private struct State: Sendable {
        var calls: [Call] = []
        var refusal: @Sendable (Call) -> Bool = { _ in false }
        /// The sizes that the files had when they were synced last.
        var sizes: [String: Int] = [:]
    }

    private static let watched = Locked<[String: State]>([:])
    private let path: String

    /// Watches an existing folder.
    init(in folder: URL) {
        path = folder.resolvingSymlinksInPath().path
        Self.watched.withLock { $0[path] = State() }
    }

    // Whatever the condition retains is released outside the lock.
    deinit { _ = Self.watched.withLock { $0.removeValue(forKey: path) } }

    /// Returns the calls since the last time.
    func take() -> [Call] {
        Self.watched.withLock { watched in
            defer { watched[path]?.calls = [] }
            return watched[path]?.calls ?? []
        }
    }

    /// Makes calls fail, as on a broken disk.
    func refuse(_ condition: @escaping @Sendable (Call) -> Bool) {
        _ = Self.watched.withLock { watched in
            defer { watched[path]?.refusal = condition }
            return watched[path]?.refusal
        }
    }

    /// Whether all bytes of a file are on the disk.
    func isSynced(_ name: String) -> Bool {
        Self.size("\(path)/\(name)") == Self.watched.withLock { $0[path]?.sizes[name] }
    }

    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Records a call; returns false if it is to fail.
    fileprivate static func record(_ file: String?, _ call: (_ name: (String) -> String) -> Call) -> Bool {
        guard let file else { return true }
        let found = watched.withLock { watched -> (call: Call, refusal: @Sendable (Call) -> Bool)? in
            guard let folder = folder(of: file, in: watched), let state = watched[folder] else { return nil }
            let call = call { String($0.dropFirst(folder.count + 1)) }
            watched[folder]?.calls.append(call)
            return (call, state.refusal)
        }
        guard let (made, refusal) = found else { return true }
        guard !refusal(made) else {
            errno = EIO
            return false
        }
        guard case .sync(let name) = made else { return true }
        let length = size(file)
        watched.withLock { watched in
            if let folder = folder(of: file, in: watched) { watched[folder]?.sizes[name] = length }
        }
        return true
    }

    private static func folder(of file: String, in watched: [String: State]) -> String? {
        watched.keys.first { file == $0 || file.hasPrefix("\($0)/") }
    }
}

/// The functions of the system under the names that the ones below take.
private enum System {
    typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    typealias Unlink = @convention(c) (Int32, UnsafePointer<CChar>, Int32) -> Int32

    static let rename = next("renameat", as: Rename.self)
    static let unlink = next("unlinkat", as: Unlink.self)

    /// Returns the function that the linker would have found without this program.
    private static func next<Function>(_ name: String, as type: Function.Type) -> Function? {
        // `RTLD_NEXT`, a macro that isn't imported.
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), name).map { unsafeBitCast($0, to: type) }
    }

    /// Returns the path of an open file, or of a name in an open folder.
    static func path(_ descriptor: Int32, _ name: UnsafePointer<CChar>? = nil) -> String? {
        let name = name.map { String(cString: $0) }
        if descriptor == AT_FDCWD || name?.first == "/" { return name }
        let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        return file.map { file in name.map { "\(file)/\($0)" } ?? file }
    }
}

@_cdecl("fsync") func watchedSync(_ descriptor: Int32) -> Int32 {
    let file = System.path(descriptor)
    return DiskCalls.record(file) { .sync($0(file ?? "")) } ? fdatasync(descriptor) : -1
}

@_cdecl("renameat") func watchedRename(
    _ oldFolder: Int32,
    _ old: UnsafePointer<CChar>,
    _ newFolder: Int32,
    _ new: UnsafePointer<CChar>
) -> Int32 {
    let (from, to) = (System.path(oldFolder, old), System.path(newFolder, new))
    guard DiskCalls.record(to, { .rename($0(from ?? ""), to: $0(to ?? "")) }) else { return -1 }
    return System.rename?(oldFolder, old, newFolder, new) ?? -1
}

@_cdecl("rename") func watchedRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
    watchedRename(AT_FDCWD, old, AT_FDCWD, new)
}

@_cdecl("unlinkat") func watchedUnlink(_ folder: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    let file = System.path(folder, name)
    guard DiskCalls.record(file, { .unlink($0(file ?? "")) }) else { return -1 }
    return System.unlink?(folder, name, flags) ?? -1
}

@_cdecl("unlink") func watchedUnlink(_ path: UnsafePointer<CChar>) -> Int32 { watchedUnlink(AT_FDCWD, path, 0) }
#endif
