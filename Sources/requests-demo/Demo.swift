// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A small recipe application that shows the library's features, from basic to advanced.
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
            if let url = arguments.url {
                try await PagesCommand(url: url, pages: arguments.pages).run()
                exit(0)
            }
            let kitchen = try Kitchen()
            print("Requests demo, using \(kitchen.title)\n")
            let passed = await Tour(kitchen: kitchen).run()
            kitchen.close()
            print(passed ? "\nAll sections passed." : "\nSome sections failed: see above.")
            exit(passed ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }
}

/// The command-line options.
struct Arguments {
    /// The URL of a list to page through; `nil` to run the tour.
    var url: URL?
    /// The maximum number of pages to load.
    var pages = 5

    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--url":
                guard let text = rest.popFirst(), let url = URL(string: text), url.host != nil else {
                    throw UsageError(description: "--url requires an absolute URL\n\(Self.usage)")
                }
                self.url = url
            case "--pages":
                guard let pages = rest.popFirst().flatMap({ Int($0) }), pages > 0 else {
                    throw UsageError(description: "--pages requires a number of pages\n\(Self.usage)")
                }
                self.pages = pages
            case "--help", "-h":
                print(Self.usage)
                exit(0)
            default:
                throw UsageError(description: "unknown option \(argument)\n\(Self.usage)")
            }
        }
    }

    static let usage = """
        usage: requests-demo [--url URL [--pages N]]
               requests-demo download URL FILE

          --url URL   page through a list of any JSON API that links to its next page with `Link`, such as
                      https://api.github.com/orgs/apple/repos; without it, run a tour with a local server
          --pages N   stop after N pages (5 by default)
          download    download a file, resuming an interrupted download
        """
}
