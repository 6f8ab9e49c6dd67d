// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A small recipe application: what the library is for, in the order in which one would meet it.
@main
struct Demo {
    static func main() async {
        do {
            let words = CommandLine.arguments.dropFirst()
            if words.first == "download" {
                try await DownloadCommand(words.dropFirst()).run()
                exit(0)
            }
            let arguments = try Arguments(words)
            let kitchen = try Kitchen(url: arguments.url)
            print("Requests demo, against \(kitchen.title)\n")
            let passed = await Tour(kitchen: kitchen).run()
            kitchen.close()
            print(passed ? "\nAll went as it should." : "\nSomething did not go as it should: see above.")
            exit(passed ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }
}

/// What the command line says.
struct Arguments {
    /// The API to talk to; nil starts a server of the demo's own.
    var url: URL?

    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--url":
                guard let text = rest.popFirst(), let url = URL(string: text), url.host != nil else {
                    throw UsageError(description: "--url needs an absolute URL\n\(Self.usage)")
                }
                self.url = url
            case "--help", "-h":
                print(Self.usage)
                exit(0)
            default:
                throw UsageError(description: "\(argument) isn't an option\n\(Self.usage)")
            }
        }
    }

    static let usage = """
        usage: requests-demo [--url URL]
               requests-demo download URL FILE

          --url URL   talk to a real API that serves GET /recipes/1, /recipes/1/author and /authors/{id},
                      DELETE /recipes/1, and 404 for /recipes/0; without it, a server on this machine is started
          download    download a file, going on with what an interrupted download left
        """
}
