// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

private let curlIsThere = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/curl") }

extension OverLoopback {
    /// Commands for a shell: run by a real shell and a real curl, and compared with the library's own request.
    @Suite(.bounded, .enabled(if: curlIsThere)) struct CURLCommandTests {
        static let hostile =
            "a'b\"c$(touch pwned)`touch pwned`\\ !x;|&><*?[]{}~#%\u{7D}é😀\nline'\u{301}; touch pwned; '\u{301}"

        static let requests: [HTTPRequest] = [
            HTTPRequest("/plain"),
            HTTPRequest("/query?x=1", query: ["q": hostile, "b[]": "{1}"]),
            HTTPRequest(method: .head, "/head"),
            HTTPRequest(method: .delete, "/delete"),
            HTTPRequest("/old").usesHTTP2(false),
            HTTPRequest(method: "PURGE", "/purge"),
            HTTPRequest("/headers").headers {
                Header("X-Quote", value: "a'b\"c$(id)`id`\\ %s é")
                Header("X-Empty", value: "")
                UserAgent("Recipes/1 (it's)")
                Accept(.json)
            },
            HTTPRequest("/auth").authenticated(with: .basicAuth(username: "o'hara", password: "p'w$")),
            HTTPRequest("/cookie").settingHeader(.cookie(Cookie("a", "1"), Cookie("b", "2"))),
            HTTPRequest(method: .post, "/json", body: .json(["name": .value(hostile)])),
            HTTPRequest(method: .post, "/text", body: .text(hostile)),
            HTTPRequest(method: .post, "/at", body: .text("@/etc/passwd")),
            HTTPRequest(method: .post, "/at", body: .text("@\u{301}/etc/passwd")),
            HTTPRequest("/blank").settingHeader(HTTPField("X-Blank", "\u{2028}")),
            HTTPRequest(method: .post, "/bare", body: .data(Data("bare".utf8), type: nil)),
            HTTPRequest(method: .put, "/binary", body: .data(Data((0...255).map(UInt8.init)))),
            HTTPRequest(method: .post, "/form", body: .form(["a": "b c", "d": "é&="])),
            HTTPRequest(method: .post, "/large", body: .text(String(repeating: "large'\n", count: 20_000))),
            HTTPRequest(method: .post, "/empty", body: .data(Data())),
        ]

        @Test(arguments: requests)
        func commandSendsIdenticalRequest(_ request: HTTPRequest) async throws {
            try await compare(request)
        }

        @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
        func commandSendsSameContentLengthForEmptyBody(_ method: HTTPMethod) async throws {
            try await compare(HTTPRequest(method: method, "/without-content"))
        }

        @Test func commandUploadsFiles() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "it's \(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "a $(b).bin")
            try Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }).write(to: file)

            try await compare(HTTPRequest(method: .put, "/file", body: .file(file)))
            try await compare(
                HTTPRequest(
                    method: .post,
                    "/multipart",
                    body: .multipart(boundary: "b'0") { form in
                        form.add(Self.hostile, for: "na\"me")
                        form.add(.file(file), for: "file")
                        form.add(.data(Data([0, 255, 37, 39, 92])), for: "bytes", fileName: "x'y")
                    }
                )
            )
        }

        private func compare(_ request: HTTPRequest) async throws {
            let server = try MockServer { _ in .status(.noContent) }
            let command = try request.cURL(baseURL: server.url, revealingSecrets: true)
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }

            var sent = request
            sent.url = try #require(try request.toURLRequest(baseURL: server.url).url)
            sent.query = []
            _ = try await OperationQueue().fetch(sent)
            let status = try await Self.shell(command, in: folder)

            #expect(status == 0)
            let (ours, theirs) = (try #require(server.requests.first), try #require(server.requests.last))
            #expect(server.requests.count == 2)
            #expect(theirs.method == ours.method && theirs.target == ours.target)
            #expect(theirs.body == ours.body)
            #expect(Self.fields(of: theirs) == Self.fields(of: ours))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }

        /// Returns the fields in sorted order; the codings that curl accepts depend on its build.
        private static func fields(of request: ReceivedRequest) -> [String] {
            request.headers.filter { $0.name != .acceptEncoding }
                .map { "\($0.name.rawValue.lowercased()): \($0.value)" }.sorted()
        }

        private static func shell(_ command: String, in folder: URL) async throws -> Int32 {
            // In a file, since an argument has a limit that the standard input of a shell hasn't.
            let script = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sh")
            try Data(command.utf8).write(to: script)
            defer { try? FileManager.default.removeItem(at: script) }
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = [script.path]
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let ended = Gate()
            process.terminationHandler = { _ in ended.open() }
            try process.run()
            if (try? await ended.wait()) == nil { await process.end() }
            return process.terminationStatus
        }

        @Test func secretsAreRedactedByDefault() throws {
            let request = HTTPRequest("https://user:pass@example.com/x?access_token=secret&q=1")
                .settingHeader(HTTPField("X-API-Key", "secret of several words"))
                .settingHeader(HTTPField(.cookie, "session=secret; other=secret"))

            let command = try request.cURL()
            let bearer = try HTTPRequest("https://example.com").authenticated(with: .bearerToken("secret")).cURL()

            #expect(!command.contains("secret") && !command.contains("pass") && command.contains("q=1"))
            #expect(bearer.contains("'Authorization: Bearer <redacted>'"))
            #expect(try request.cURL(revealingSecrets: true).contains("access_token=secret"))
        }

        @Test func responseProvidesItsCommand() async throws {
            let server = try MockServer { _ in .text("hi") }

            let response = try await OperationQueue().send(HTTPRequest("\(server.url)/a"))

            #expect(try response.cURL()?.hasPrefix("curl") == true)
        }

        @Test func streamCannotBeExpressedAsCommand() {
            let request = HTTPRequest(
                method: .post,
                "https://example.com",
                body: .stream(HTTPBody.Stream(InputStream(data: Data())))
            )

            #expect(throws: InvalidValue.self) { try request.cURL() }
        }
    }
}
#endif
