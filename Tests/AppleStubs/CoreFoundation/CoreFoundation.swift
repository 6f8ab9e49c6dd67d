// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Stands in for Apple's module CoreFoundation in Scripts/apple-check: what the sources use of it, and no more.
// Nothing of it is ever run.
//
// A type that is toll-free bridged is the class that it is bridged to: so the casts to it compile as they do there.

import Foundation

public typealias CFIndex = Int
public typealias CFOptionFlags = UInt
public typealias CFTypeID = UInt
public typealias CFTypeRef = AnyObject

public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFError = NSError
public typealias CFString = NSString

public final class CFAllocator {}
public final class CFReadStream {}
public typealias CFWriteStream = OutputStream
public final class CFRunLoop {}

public struct CFStreamClientContext {}
public struct CFStreamEventType: OptionSet, Sendable {
    public let rawValue: CFOptionFlags
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
}
public typealias CFReadStreamClientCallBack = (CFReadStream?, CFStreamEventType, UnsafeMutableRawPointer?) -> Void

public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ queue: DispatchQueue!) {}
public func CFGetTypeID(_ object: CFTypeRef!) -> CFTypeID { fatalError() }
public func CFBooleanGetTypeID() -> CFTypeID { fatalError() }
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { fatalError() }
