// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension PartialFile {
    /// The hidden name of a partial file: that of the destination, as far as there is room, and what nobody else has.
    static func name(for destination: String) -> String {
        var name = ""
        for character in destination where name.utf8.count + character.utf8.count <= longestPrefix {
            name.append(character)
        }
        return ".\(name).\(UUID().uuidString)\(suffix)"
    }

    /// Whether a name is one that ``name(for:)`` gives: whatever else there is, is somebody else's.
    ///
    /// What was stored, such as a token for a resumption, names a file that is then written; it must not be any file.
    static func isName(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix), !name.utf8.contains(UInt8(ascii: "/")) else { return false }
        let identifier = name.dropLast(suffix.count).suffix(37)
        return identifier.first == "." && UUID(uuidString: String(identifier.dropFirst())) != nil
    }

    private static let suffix = ".partial"
    // With dots, identifier and suffix behind it, what every file system takes is still far.
    private static let longestPrefix = 120

    /// Locks an open file, until it is closed; false where another has done so.
    ///
    /// File systems that know no locks, as some of networks, leave it to the caller to ask for a file once at a time.
    static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Closes a file that is locked, for all who have it.
    ///
    /// A process that is about to be started has all descriptors of this one for a moment, and closing leaves the lock to
    /// it; unlocking doesn't.
    static func release(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether a name is still that of an open file, which somebody may have moved until it was locked.
    static func isStill(_ url: URL, _ status: stat) -> Bool {
        var named = stat()
        return lstat(url.path, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Writes by the system's call.
    static let write: Writer = { descriptor, bytes in
        #if canImport(Darwin)
        let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
        let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
        return count < 0 ? -Int(errno) : count
    }

    /// Gives a file another name, unless something has it; the error number of the system, or 0.
    ///
    /// A second name fails where there is one already, and a link is one too. File systems that know no second names
    /// (FAT, some of networks) have the name taken by an empty file, which is then replaced.
    static func renameWithoutReplacing(_ from: String, _ to: String) -> Int32 {
        #if canImport(Darwin)
        if renamex_np(from, to, UInt32(RENAME_EXCL)) == 0 { return 0 }
        guard errno == ENOTSUP || errno == EINVAL else { return errno }
        #endif
        if link(from, to) == 0 {
            unlink(from)
            return 0
        }
        let number = errno
        guard [EPERM, ENOTSUP, EOPNOTSUPP, EMLINK, ENOSYS].contains(number) else { return number }
        return replacePlaceholder(from, to)
    }

    /// Takes a name with an empty file, and puts the file in its place.
    static func replacePlaceholder(_ from: String, _ to: String) -> Int32 {
        let placeholder = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard placeholder >= 0 else { return errno }
        close(placeholder)
        guard rename(from, to) == 0 else {
            let number = errno
            unlink(to)
            return number
        }
        return 0
    }
}

extension URL {
    /// Whether a file is in the same folder as another, however the way there is written.
    func isBeside(_ other: URL) -> Bool {
        deletingLastPathComponent().standardizedFileURL.path
            == other.deletingLastPathComponent().standardizedFileURL.path
    }
}
