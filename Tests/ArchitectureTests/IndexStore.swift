// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import CIndexStore
import Foundation
import RequestsTestSupport

/// A source file, with the symbols that the compiler found in it.
struct IndexedFile {
    /// A definition of a symbol, or an explicit reference to it.
    struct Occurrence {
        /// Identifies the symbol in all files.
        let usr: String
        let name: String
        let line: Int
        let isDefinition: Bool
    }

    /// The path, relative to the root of the repository.
    let path: String
    let occurrences: [Occurrence]
}

/// The index of symbols that the compiler writes as it builds the tests.
enum IndexStore {
    fileprivate struct Unit {
        let module: String
        let file: String
        let record: String
        let time: Duration
    }

    private struct TargetInfo: Decodable {
        struct Paths: Decodable { let runtimeResourcePath: String }
        let paths: Paths
    }

    private struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    private static let store = BuiltProgram.url(named: "index/store").path

    /// Whether the build of the tests must have written an index.
    ///
    /// A debug build with SwiftPM does; on Linux, the tests fail if it didn't. Xcode puts its index elsewhere.
    static var isExpected: Bool {
        #if os(Linux) && DEBUG
        true
        #else
        FileManager.default.fileExists(atPath: store)
        #endif
    }

    /// Returns the files of a module that are in the repository.
    ///
    /// - Throws: An error if there is no index, or no library that reads it.
    static func files(ofModule module: String) throws -> [IndexedFile] {
        let library = try library
        guard let index = cindexstore_open(library, store) else {
            throw Unreadable(description: "\(library) can't be opened, or can't read the index at \(store)")
        }
        let units: [Unit] = elements { context in
            cindexstore_units(index, context) { append(Unit($1), to: $0) }
        }
        // A build leaves the units of previous ones, and of files that no longer exist.
        let newest = Dictionary(
            units.filter { $0.module == module }.map { ($0.file, $0) },
            uniquingKeysWith: { $0.time < $1.time ? $1 : $0 }
        )
        return try newest.values.compactMap { unit in
            guard let path = SourceFile.path(of: unit.file) else { return nil }
            let occurrences = unit.record.isEmpty ? [] : try occurrences(in: unit.record, of: index)
            return IndexedFile(path: path, occurrences: occurrences)
        }.sorted { $0.path < $1.path }
    }

    private static func occurrences(
        in record: String,
        of index: UnsafeMutableRawPointer
    ) throws -> [IndexedFile.Occurrence] {
        var isThere = false
        let occurrences: [IndexedFile.Occurrence] = elements { context in
            isThere = cindexstore_occurrences(index, record, context) {
                append(IndexedFile.Occurrence($1), to: $0)
            }
        }
        guard isThere else { throw Unreadable(description: "\(store) lacks \(record)") }
        return occurrences
    }

    /// The library of the toolchain whose compiler is in `PATH`.
    private static var library: String {
        get throws {
            #if os(Linux) || os(macOS)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["swiftc", "-print-target-info"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            guard let info = try? JSONDecoder().decode(TargetInfo.self, from: data) else {
                throw Unreadable(description: "there is no swiftc in PATH")
            }
            #if os(macOS)
            return "\(info.paths.runtimeResourcePath)/../libIndexStore.dylib"
            #else
            return "\(info.paths.runtimeResourcePath)/../libIndexStore.so"
            #endif
            #else
            throw Unreadable(description: "there is no compiler on this platform")
            #endif
        }
    }
}

// MARK: - Callbacks

/// Returns the elements that `read` appends to the context.
private func elements<Element>(_ read: (UnsafeMutableRawPointer) -> Void) -> [Element] {
    var elements: [Element] = []
    withUnsafeMutablePointer(to: &elements) { read($0) }
    return elements
}

private func append<Element>(_ element: Element, to context: UnsafeMutableRawPointer?) {
    context?.assumingMemoryBound(to: [Element].self).pointee.append(element)
}

extension IndexStore.Unit {
    fileprivate init(_ unit: cindexstore_unit) {
        self.init(
            module: String(unit.module),
            file: String(unit.file),
            record: String(unit.record),
            time: .seconds(unit.seconds) + .nanoseconds(unit.nanoseconds)
        )
    }
}

extension IndexedFile.Occurrence {
    fileprivate init(_ occurrence: cindexstore_occurrence) {
        self.init(
            usr: String(occurrence.usr),
            name: String(occurrence.name),
            line: Int(occurrence.line),
            isDefinition: occurrence.is_definition
        )
    }
}

extension String {
    fileprivate init(_ string: cindexstore_string) {
        self.init(decoding: UnsafeRawBufferPointer(start: string.data, count: string.length), as: UTF8.self)
    }
}
