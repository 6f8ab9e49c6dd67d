// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct ServedFolderTests {
    /// A folder with all difficult cases, beside a secret.
    final class Fixture {
        let base = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        var root: URL { base.appending(path: "root") }

        init() throws {
            let manager = FileManager.default
            for folder in ["root/menus/spring", "root/site", "root/shadow", "root/.git/refs", "root-2"] {
                try manager.createDirectory(at: base.appending(path: folder), withIntermediateDirectories: true)
            }
            let files = [
                "secret.txt": "secret", "root-2/secret.txt": "secret", "root/recipe.json": "{}",
                "root/a b&<c>.txt": "odd", "root/.\u{301}hidden": "secret",
                "root/.hidden": "secret", "root/.git/config": "secret", "root/.git/refs/head": "secret",
                "root/menus/.env": "secret", "root/menus/spring/monday.txt": "soup",
                "root/site/index.html": "<p>hello</p>", "root/c:d": "colon",
            ]
            for (name, text) in files { try Data(text.utf8).write(to: base.appending(path: name)) }
            let links = [
                "root/out.txt": "../secret.txt", "root/outside": "..", "root/beside": "../root-2",
                "root/gone": "nowhere",
                "root/light.txt": ".hidden", "root/lit": ".git", "root/deep": ".git/refs",
                "root/shadow/index.html": "../.git/config", "root/shadow/menu": "../menus/.env",
                "root/inside.txt": "menus/spring/monday.txt", "root/loop": "loop",
            ]
            for (name, target) in links {
                try manager.createSymbolicLink(
                    atPath: base.appending(path: name).path,
                    withDestinationPath: target
                )
            }
            mkfifo(base.appending(path: "root/pipe").path, 0o600)
        }

        deinit { try? FileManager.default.removeItem(at: base) }
    }

    private func ask(_ fixture: Fixture, _ target: String, method: String = "GET") throws -> String {
        let server = try MockServer(MockServer.folder(fixture.root))
        let client = try RawClient(port: server.port)
        client.send("\(method) \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
    }

    static let served: [(String, String, String)] = [
        ("/recipe.json", "application/json", "{}"), ("/recipe.json?x=../..", "application/json", "{}"),
        ("/a%20b%26%3Cc%3E.txt", "text/plain; charset=utf-8", "odd"), ("//recipe.json", "application/json", "{}"),
        ("/menus//spring/monday.txt", "text/plain; charset=utf-8", "soup"),
        ("http://h/recipe.json", "application/json", "{}"), ("/%72ecipe.json", "application/json", "{}"),
        ("/inside.txt", "text/plain; charset=utf-8", "soup"), ("/site/", "text/html; charset=utf-8", "<p>hello</p>"),
        ("/c:d", "application/octet-stream", "colon"), ("/outside/root/recipe.json", "application/json", "{}"),
    ]

    @Test(arguments: served)
    func aFileIsServed(target: String, type: String, content: String) throws {
        let answer = try ask(Fixture(), target)

        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("\r\nContent-Type: \(type)\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n\(content)"))
    }

    static let hidden = [
        "/../secret.txt", "/%2e%2e/secret.txt", "/menus/../../secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt",
        "/..%5csecret.txt", "/out.txt", "/outside/secret.txt", "/outside/", "/beside/secret.txt",
        "/../root-2/secret.txt",
        "/.%CC%81hidden", "/light.txt", "/lit/", "/lit/config", "/lit/refs/head", "/deep/head", "/shadow/index.html",
        "/shadow/menu",
        "/.hidden", "/menus/.env", "/./recipe.json", "/recipe.json/", "/recipe.json%00.txt", "/nothing", "/gone",
        "/loop",
        "/pipe", "/menus%2fspring/monday.txt", "/recipe.json/x", "http://h/../secret.txt",
    ]

    @Test(arguments: hidden)
    func nothingElseIsServed(target: String) throws {
        let answer = try ask(Fixture(), target)

        #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"), "\(answer)")
        #expect(!answer.contains("secret"))
    }

    @Test(arguments: ["*", "/%ff", "/%zz", "menus"])
    func aMalformedPathIsRefused(target: String) throws {
        #expect(try ask(Fixture(), target).hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test func aFolderIsAListOfWhatMayBeSeen() throws {
        let answer = try ask(Fixture(), "/")

        #expect(answer.contains("\r\nContent-Type: text/html; charset=utf-8\r\n"))
        let links = answer.split(separator: "\n").filter { $0.hasPrefix("<li>") }
        #expect(
            links == [
                #"<li><a href="./a%20b%26%3Cc%3E.txt">a b&amp;&lt;c&gt;.txt</a></li>"#,
                #"<li><a href="./c%3Ad">c:d</a></li>"#,
                #"<li><a href="./inside.txt">inside.txt</a></li>"#,
                #"<li><a href="./menus/">menus/</a></li>"#,
                #"<li><a href="./recipe.json">recipe.json</a></li>"#,
                #"<li><a href="./shadow/">shadow/</a></li>"#,
                #"<li><a href="./site/">site/</a></li>"#,
            ]
        )
        #expect(!(try ask(Fixture(), "/shadow/")).contains("menu<"))
        #expect(try ask(Fixture(), "/menus/").contains(#"<li><a href="./../">../</a></li>"#))
    }

    @Test(arguments: ["/menus", "//menus"])
    func aFolderWithoutItsSlashIsElsewhere(target: String) throws {
        let answer = try ask(Fixture(), "\(target)?page=2")

        #expect(answer.hasPrefix("HTTP/1.1 301 Moved Permanently\r\n"))
        #expect(answer.contains("\r\nLocation: /menus/?page=2\r\n"))
    }

    @Test func aHeadHasNoContentAndOtherMethodsAreRefused() throws {
        let head = try ask(Fixture(), "/menus/spring/monday.txt", method: "HEAD")
        #expect(head.contains("\r\nContent-Length: 4\r\n") && head.hasSuffix("\r\n\r\n"))

        let post = try ask(Fixture(), "/recipe.json", method: "POST")
        #expect(post.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n") && post.contains("\r\nAllow: GET, HEAD\r\n"))
    }

    @Test func aFolderThatIsNotThereHasNothing() throws {
        let server = try MockServer(MockServer.folder(URL(fileURLWithPath: "/nowhere/\(UUID())")))
        let client = try RawClient(port: server.port)

        client.get("/", fields: "Connection: close\r\n")

        #expect(client.readToEnd().hasPrefix("HTTP/1.1 404 "))
    }

    @Test(arguments: [#""<a>"#, "&\"", "<\u{301}"])
    func aNameCantLeaveItsPlaceInThePage(name: String) {
        let html = FolderListing(title: "/\(name)/", names: [name]).html

        // A browser reads scalars.
        let plain = FolderListing(title: "/x/", names: ["x"]).html
        for sign in "<>\"".unicodeScalars {
            #expect(html.unicodeScalars.count { $0 == sign } == plain.unicodeScalars.count { $0 == sign })
        }
    }

    @Test func noPathLeadsOutOfTheFolder() throws {
        var fuzz = Fuzz()
        let pieces = ["/", "..", "%2e", "%2f", "%00", "menus", "?", "%", "//", "http://", ".", "a%20b"]
        let fixture = try Fixture()
        defer { withExtendedLifetime(fixture) {} }
        let folder = ServedFolder(root: fixture.root.path)
        let real = URL(fileURLWithPath: fixture.root.path).resolvingSymlinksInPath().path

        for _ in 0..<Scale.fuzz(weight: 100) {
            guard case .file(let path) = folder.find(fuzz.text(of: pieces)) else { continue }
            #expect(path.hasPrefix(real + "/"))
        }
    }
}
