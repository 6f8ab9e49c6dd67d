// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

// Stands in for Apple's module Darwin in Scripts/apple-check: the C library of Linux, and what the sources use that
// only Darwin has. Nothing of it is ever run.
//
// Where both have a name, its type is the one of Linux: how wide an integer is, isn't checked.

@_exported import Glibc

public struct os_unfair_lock_s {
    public init() {}
}

public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock_s>

public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {}
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {}

public var RENAME_EXCL: Int32 { 4 }
public var F_FULLFSYNC: Int32 { 51 }

public func renamex_np(_ from: UnsafePointer<CChar>!, _ to: UnsafePointer<CChar>!, _ flags: UInt32) -> Int32 { 0 }

extension stat {
    public var st_mtimespec: timespec { st_mtim }
}

extension sockaddr_in {
    public var sin_len: UInt8 {
        get { 0 }
        set {}
    }
}

public var SOCK_STREAM: Int32 { 1 }
public var SO_NOSIGPIPE: Int32 { 0x1022 }
public var SO_NWRITE: Int32 { 0x1024 }
