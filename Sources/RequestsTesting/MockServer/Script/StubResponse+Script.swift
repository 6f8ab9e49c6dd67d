// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// Reads a response of a script.
    init(_ entry: ScriptEntry, folder: URL) throws(ServerScript.Fault) {
        var members = try entry.members()
        let status = HTTPStatus(try members.take("status")?.integer(200...999) ?? 200)
        var headers = try Self.headers(members.take("headers"))
        let content = try Self.content(&members, of: entry, folder: folder)
        if let type = content.type, !headers.contains(.contentType) { headers[.contentType] = type }
        if let typeEntry = members.take("type") {
            let type = try typeEntry.text()
            guard ASCIISet.fieldValue.containsAll(type) else { throw typeEntry.fault("has a control character") }
            headers[.contentType] = type
        }
        let trailers = try Self.headers(members.take("trailers"))
        if let size = try members.take("chunks")?.integer(1...(1 << 30)) {
            self = .chunked(content.data, chunkSize: size, trailers: trailers, status: status, headers: headers)
        } else if !trailers.isEmpty {
            throw entry.fault("has trailers, which need \"chunks\": the size of a chunk")
        } else {
            self = .status(status, headers: headers, body: content.data)
        }
        try apply(&members, of: entry)
        try members.finish()
    }

    /// Applies the faults in the order in which they combine: the speed first, then the end, then the delay.
    private mutating func apply(_ members: inout ScriptEntry.Members, of entry: ScriptEntry) throws(ServerScript.Fault)
    {
        let counts = 0...Int.max
        if let speed = try members.take("bytesPerSecond")?.integer(1...(1 << 40)) {
            self = throttled(to: StubResponse.Speed(bytesPerSecond: speed))
        }
        if var drip = try members.take("drip")?.members() {
            let size = try drip.take("bytes")?.integer(1...(1 << 30)) ?? 1
            let interval = try drip.take("every")?.duration() ?? .milliseconds(100)
            self = dripping(by: size, every: interval)
            try drip.finish()
        }
        let endings = ["closeAfter", "resetAfter", "stallAfter"].compactMap { members.take($0) }
        guard endings.count <= 1 else { throw endings[1].fault("is a second end of the same answer") }
        if let instead = members.take("instead") {
            guard endings.isEmpty else { throw instead.fault("is a second end of the same answer") }
            switch try instead.text() {
            case "close": self = adding(.close, at: Event.start)
            case "reset": self = adding(.reset, at: Event.start)
            case "stall": self = adding(.stall, at: Event.start)
            default: throw instead.fault("isn't close, reset or stall")
            }
        }
        for ending in endings {
            let count = try ending.integer(counts)
            if ending.path.hasSuffix("closeAfter") { self = truncated(after: count) }
            if ending.path.hasSuffix("resetAfter") { self = reset(after: count) }
            if ending.path.hasSuffix("stallAfter") { self = stalled(after: count) }
        }
        if let delay = try members.take("delay")?.duration() { self = delayed(by: delay) }
        if try members.take("close")?.flag() == true { self = closing }
        if try members.take("early")?.flag() == true { self = early }
    }

    private static func content(
        _ members: inout ScriptEntry.Members,
        of entry: ScriptEntry,
        folder: URL
    ) throws(ServerScript.Fault) -> (data: Data, type: String?) {
        var found: [(data: Data, type: String?)] = []
        if let text = members.take("text") { found.append((Data(try text.text().utf8), "text/plain; charset=utf-8")) }
        if let json = members.take("json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let data = try? encoder.encode(json.value) else { throw json.fault("can't be written as JSON") }
            found.append((data, "application/json"))
        }
        if let base64 = members.take("base64") {
            guard let data = Data(base64Encoded: try base64.text()) else { throw base64.fault("isn't Base64") }
            found.append((data, "application/octet-stream"))
        }
        if let file = members.take("file") {
            let path = try file.text()
            let url = path.hasPrefix("/") ? URL(fileURLWithPath: path) : folder.appendingPathComponent(path)
            guard let data = try? Data(contentsOf: url) else {
                throw file.fault("can't be read: \(url.path.shortened(to: 200))")
            }
            found.append((data, ServedFile(content: Data(), name: url.path, modified: .distantPast).type))
        }
        guard found.count <= 1 else { throw entry.fault("has several of text, json, base64 and file") }
        return found.first ?? (Data(), nil)
    }

    /// Reads header fields, whose values are a string or an array of strings.
    private static func headers(_ entry: ScriptEntry?) throws(ServerScript.Fault) -> HTTPHeaders {
        var headers = HTTPHeaders()
        guard var members = try entry?.members() else { return headers }
        for (name, entry) in members.takeAll() {
            guard name.isToken else { throw entry.fault("isn't the name of a field") }
            let values: [ScriptEntry]
            if case .array = entry.value { values = try entry.elements() } else { values = [entry] }
            for value in values {
                let text = try value.text()
                guard ASCIISet.fieldValue.containsAll(text) else { throw value.fault("has a control character") }
                headers.add(text, for: HTTPField.Name(name))
            }
        }
        return headers
    }
}
