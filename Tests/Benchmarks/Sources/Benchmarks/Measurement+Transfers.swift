// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// Downloads of a gibibyte to a file and uploads from one, compared with the equivalent curl command. The byte count of
// a result is the maximum memory of the process beyond its initial memory.
extension Measurement {
    static let transfers: [Measurement] = [
        Measurement(name: "download-ours") {
            try moving { server, folder in
                let url = server.appending(path: "\(size)")
                return { _ = try await OperationQueue().fetch(HTTPRequest(url: url).download(to: .directory(folder))) }
            }
        },
        Measurement(name: "download-curl") {
            try moving { server, folder in
                let file = folder.appending(path: "file").path
                return { try curl(["-o", file, server.appending(path: "\(size)").absoluteString]) }
            }
        },
        Measurement(name: "upload-ours") {
            try moving { server, folder in
                let file = try largeFile(in: folder)
                let form = HTTPBody.multipart { $0.add(.file(file), for: "file") }
                let request = HTTPRequest(url: server.appending(path: "0"), method: .post, body: form)
                return { _ = try await OperationQueue().fetch(request) }
            }
        },
        Measurement(name: "upload-curl") {
            try moving { server, folder in
                let file = try largeFile(in: folder).path
                return {
                    try curl(["-H", "Expect:", "-F", "file=@\(file)", server.appending(path: "0").absoluteString])
                }
            }
        },
    ]

    private static let size = 1 << 30

    private typealias Move = @Sendable () async throws -> Void

    private static func moving(_ make: (_ server: URL, _ folder: URL) throws -> Move) throws -> Usage {
        let server = try ServerProcess("--bulk")
        let folder = memory.appending(path: "requests-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }
        try warmUp(folder)
        let move = try make(server.url, folder)
        let before = Usage.residentBytes()
        var usage = Usage.measure(count: size) {
            let done = DispatchSemaphore(value: 0)
            Task {
                do { try await move() } catch { fatalError("\(error)") }
                done.signal()
            }
            done.wait()
        }
        usage.bytes = Usage.mostResidentBytes() - before
        return usage
    }

    // On a disk, the benchmark would measure the disk and the system's other use of it.
    private static let memory =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

    /// Writes and removes a file, since memory for a file is found more slowly the first time; later measurements are
    /// equal.
    private static func warmUp(_ folder: URL) throws {
        let file = folder.appending(path: "warm")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        let piece = Data(repeating: 1, count: 1 << 20)
        for _ in 0..<size >> 20 { try handle.write(contentsOf: piece) }
        try handle.close()
        try FileManager.default.removeItem(at: file)
    }

    private static func largeFile(in folder: URL) throws -> URL {
        let file = folder.appending(path: "large")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        return file
    }

    private static func curl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "-s", "-f"] + arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw URLError(.cannotLoadFromNetwork) }
    }
}
