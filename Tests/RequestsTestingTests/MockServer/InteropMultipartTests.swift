// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Python's parser of multipart messages, an independent implementation, reads the library's output.
@Suite(.bounded, .enabled(if: Tool.python.exists, "Python is not installed"))
struct InteropMultipartTests {
    private struct Part: Codable, Equatable {
        var name: String?
        var fileName: String?
        var type: String
        var content: Data
    }

    private struct Message: Codable, Equatable {
        var type: String
        var defects: [String]
        var parts: [Part]
    }

    // The field lines are read as bytes, since `email` treats all that isn't ASCII in them as an error.
    private static let program = """
        import base64, email, email.policy, json, sys
        head, body = sys.argv[1], open(sys.argv[2], "rb").read()
        text = b"Content-Type: " + head.encode() + b"\\r\\n\\r\\n" + body
        message = email.message_from_bytes(text, policy=email.policy.compat32)
        def raw(part, name):
            for key, value in part.raw_items():
                if key.lower() == name: return str(value).encode("ascii", "surrogateescape").decode("utf-8")
        def parameter(part, name):
            before, found, rest = (raw(part, "content-disposition") or "").partition("; " + name + '="')
            return rest.partition('"')[0] if found else None
        def defects(part):
            found = [type(d).__name__ for d in part.defects]
            return found + [d for p in part.get_payload() for d in defects(p)] if part.is_multipart() else found
        parts = message.get_payload() if message.is_multipart() else []
        print(json.dumps({"type": message.get_content_type(), "defects": defects(message), "parts": [{
            "name": parameter(p, "name"), "fileName": parameter(p, "filename"), "type": p.get_content_type(),
            "content": base64.b64encode(p.get_payload(decode=True) or b"").decode()} for p in parts]}))
        """

    /// Returns the parts that Python finds in a form that was sent to a server.
    private func parsed(_ form: MultipartForm) async throws -> Message {
        let body = try HTTPBody.multipart(form).resolved()
        let type = try #require(body.mandatoryHeaders[.contentType])
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try bytes(of: body).write(to: file)
        let result = try await Tool.python("-c", Self.program, type, file.path)
        #expect(result.errors == "")
        return try JSONDecoder().decode(Message.self, from: Data(result.output.utf8))
    }

    private func bytes(of body: HTTPBody) throws -> Data {
        guard case .stream(let opening) = body.content else { return try body.data() ?? Data() }
        let stream = try opening.open()
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 { data += buffer[..<count] }
        #expect(stream.streamError == nil)
        return data
    }

    @Test(arguments: ["requests-0123456789", "a b", "'()+_,-./:=?"])
    func partNamesAndContentsRoundTrip(boundary: String) async throws {
        let eightBit = Data((0...255).map { UInt8($0) })
        let names: [(String, String)] = [
            ("plain", "plain"), ("", ""), ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("🥞 grün", "🥞 grün"),
            ("a\\b;c=d", "a\\b;c=d"),
        ]
        var form = MultipartForm(boundary: boundary)
        for (name, _) in names {
            form.add(.data(eightBit, type: .png), for: name, fileName: name)
            form.add(.data(Data(), type: .octetStream), for: name)
        }

        let message = try await parsed(form)

        let expected = names.flatMap { _, name in
            [
                Part(name: name, fileName: name, type: "image/png", content: eightBit),
                Part(name: name, fileName: nil, type: "application/octet-stream", content: Data()),
            ]
        }
        #expect(message == Message(type: "multipart/form-data", defects: [], parts: expected))
    }

    @Test func thousandPartsRoundTrip() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bin")
        try Data("from a file\r\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var form = MultipartForm()
        form.preamble = "A preamble."
        for index in 0..<1000 {
            let body = index % 100 == 0 ? HTTPBody.file(file) : .data(Data("\(index)\r\n--".utf8))
            form.add(body, for: "part \(index)", fileName: "f")
        }

        let message = try await parsed(form)

        #expect(message.defects == [])
        #expect(message.parts.map(\.name) == (0..<1000).map { "part \($0)" })
        for (index, part) in message.parts.enumerated() {
            let content = index % 100 == 0 ? "from a file\r\n" : "\(index)\r\n--"
            #expect(part.content == Data(content.utf8))
        }
    }

    @Test func emptyMultipartFormIsParsed() async throws {
        #expect(try await parsed(MultipartForm()).parts == [])
    }
}
