// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) final class CookieFileTests {
    private let clock = ManualDate(.ofCookies)
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("cookies.json") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func jar() throws -> CookieJar {
        let clock = clock
        return try CookieJar(file: file) { clock.now }
    }

    @Test func persistentCookiesSurviveReload() throws {
        let jar = try jar()
        jar.receive(
            "b=\"x\\y/ü,=\t\"; Max-Age=99.5; Max-Age=60; Secure; HttpOnly; SameSite=Strict; Domain=example.com; Path=/x/",
            "a=1; Max-Age=60",
            "a=2; Max-Age=60; Path=/x",
            from: "https://www.example.com/"
        )
        clock.advance(by: 0.1)
        jar.receive("c=; Max-Age=30", from: "http://[::1]/")
        try jar.save()

        let next = try self.jar()

        #expect(next.cookies == jar.cookies && next.cookies.count == 4)
        #expect(next.sent(to: "https://www.example.com/x/y") == jar.sent(to: "https://www.example.com/x/y"))
    }

    @Test func sessionCookiesAreNotPersisted() throws {
        let jar = try jar()
        jar.receive("a=1", "b=2; Max-Age=60", "c=3; Max-Age=5", from: "https://h/")
        try jar.save()
        clock.advance(by: 5)

        #expect(try self.jar().cookies.map(\.name) == ["b"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("\"a\""))
    }

    @Test func removedCookieIsDeletedFromFile() throws {
        let jar = try jar()
        jar.receive("a=1; Max-Age=60", "b=2; Max-Age=60", "c=3; Max-Age=60", "d=4; Max-Age=60", from: "https://h/")

        jar.receive("a=; Max-Age=0", "b=session", from: "https://h/")
        jar.remove { $0.name == "c" }
        try jar.save()
        #expect(try self.jar().cookies.map(\.name) == ["d"])

        jar.removeAll()
        try jar.save()
        #expect(try self.jar().cookies.isEmpty)
    }

    @Test func recentlyUsedCookiesAreKeptInFile() throws {
        let jar = try jar()
        for index in 0..<50 { jar.receive("a\(index)=b; Path=/\(index); Max-Age=60", from: "https://h/") }
        #expect(jar.sent(to: "https://h/0") == "a0=b")
        jar.receive("a1=c; Path=/1; Max-Age=60", from: "https://h/")
        try jar.save()

        let next = try self.jar()
        next.receive("new=b", from: "https://h/")

        #expect(next.cookies.first?.name == "a0" && next.cookies.last?.name == "new")
        #expect(next.cookies.count == 50 && !next.cookies.contains { $0.name == "a2" })
    }

    @Test func fileIsAccessibleOnlyByOwner() throws {
        let jar = try jar()
        _ = FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o644])
        jar.receive("a=1; Max-Age=60", from: "https://h/")
        try jar.save()

        let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.json"])
    }

    @Test func changesAreSavedAutomatically() async throws {
        let census = Census()
        do {
            let (life, clock) = (census.life(), clock)
            let jar = try CookieJar(file: file) { withExtendedLifetime(life) { clock.now } }
            jar.receive("a=1; Max-Age=60", from: "https://h/")
        }

        // The write holds the jar until it is done.
        await census.extinction()

        #expect(try self.jar().cookies.map(\.name) == ["a"])
    }

    @Test func sessionCookiesCreateNoFile() throws {
        let jar = try jar()

        jar.receive("a=1", from: "https://h/")
        #expect(jar.sent(to: "https://h/") == "a=1")
        try jar.save()

        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"version":2}"#, #"{"version":1,"cookies":[]}"#, #"{"version":3,"cookies":[]}"#,
        #"{"version":2,"cookies":{}}"#, #"{"version":3,"cookies":[],"more":true}"#, #"{"cookies":[]}"#,
        String(repeating: "[", count: 100_000),
    ])
    func corruptFileFailsAndIsUnchanged(content: String) throws {
        try content.write(to: file, atomically: true, encoding: .utf8)

        let error = #expect(throws: FileError.self) { try jar() }

        #expect(error?.code == .damaged)
        #expect(try String(contentsOf: file, encoding: .utf8) == content)
    }

    /// The record between the first and the last one is invalid in one field.
    @Test(
        arguments: [
            ("value", #""b\r\nX-Evil: 1""#), ("value", #""b; c=d""#), ("name", #""\r\n""#), ("name", #""x=y""#),
            ("domain", #""com""#), ("domain", #""co.uk""#), ("domain", #""github.io""#), ("domain", #""Example.com""#),
            ("domain", #""""#), ("domain", #"".""#), ("domain", #""a..b""#), ("path", #""x""#),
            ("path", #""/\u0000""#), ("name", "null"), ("value", "7"), ("expires", "true"), ("created", #""now""#),
            ("use", "1e40"), ("isSecure", "1"), ("isHostOnly", "{}"),
        ] as [(String, String)]
    )
    func onlyInvalidRecordIsSkipped(key: String, text: String) throws {
        func record(_ name: String, spoiling key: String? = nil) -> String {
            var fields = [
                "name": "\"\(name)\"", "value": "\"b\"", "domain": "\"example.com\"", "path": "\"/\"",
                "sameSite": "\"Odd\"", "created": "800000000", "expires": "900000000", "use": "9223372036854775807",
                "isHostOnly": "false", "isSecure": "false", "isHTTPOnly": "false",
            ]
            if let key { fields[key] = text }
            let use = fields.removeValue(forKey: "use") ?? ""
            let cookie = fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
            return #"{"cookie":{\#(cookie)},"order":1,"use":\#(use)}"#
        }
        let records = [record("first"), record("secret-name", spoiling: key), record("last")]
        let content = #"{"version":2,"cookies":[\#(records.joined(separator: ","))]}"#
        try content.write(to: file, atomically: true, encoding: .utf8)

        let loaded = try jar()

        #expect(loaded.cookies.map(\.name) == ["first", "last"])
        #expect(loaded.skippedRecords.map(\.code) == [.damaged])
        #expect(loaded.skippedRecords.allSatisfy { $0.reason.contains("record 2") && !"\($0)".contains("secret") })
        // Reading the file doesn't change it.
        try loaded.save()
        #expect(try String(contentsOf: file, encoding: .utf8) == content)
        loaded.receive("new=b; Max-Age=60", from: "http://www.example.com/")
        try loaded.save()
        let next = try self.jar()
        #expect(next.cookies.map(\.name) == ["first", "last", "new"] && next.skippedRecords.isEmpty)
    }

    @Test func unusableFileURLFailsImmediately() throws {
        let places = [
            folder.appendingPathComponent("none/cookies.json"), folder,
            try #require(URL(string: "https://h/cookies.json")),
        ]
        for place in places {
            let error = #expect(throws: FileError.self) { try CookieJar(file: place) }
            #expect(error?.code == .cannotReadFile)
        }
    }

    @Test func failedSaveIsReportedAndCanBeRetried() throws {
        let jar = try jar()
        try FileManager.default.removeItem(at: folder)
        jar.receive("a=1; Max-Age=60", from: "https://h/")

        let error = #expect(throws: FileError.self) { try jar.save() }
        #expect(error?.code == .cannotWriteFile)
        #expect(jar.sent(to: "https://h/") == "a=1")

        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try jar.save()
        #expect(try self.jar().cookies.map(\.name) == ["a"])
    }

    @Test func concurrentSavesLeaveConsistentFile() throws {
        let jars = try [jar(), jar()]
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for count in 0..<Scale.pick(25, whole: 100) {
                jars[index].receive("a\(index)-\(count)=b; Max-Age=60", from: "https://h\(index)/")
                try? jars[index].save()
            }
        }

        // The file contains all cookies of one jar: the last one that was saved.
        let cookies = try jar().cookies
        #expect(cookies == jars[0].cookies || cookies == jars[1].cookies)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.json"])
    }
}
