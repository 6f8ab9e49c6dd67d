// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import RequestsTesting

/// Serves a folder or a script until a signal ends it.
@main
struct MockServerCommand {
    static func main() {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            guard !arguments.asksForHelp else { return print(Arguments.usage) }
            run(try arguments.start())
        } catch {
            FileHandle.standardError.write(Data("requests-mock-server: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ server: MockServer) {
        let isHeard = DispatchGroup()
        let sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the handler runs.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler {
                server.stop()
                let (requests, connections) = (server.requestCount, server.connectionCount)
                FileHandle.standardError.write(Data("requests: \(requests), connections: \(connections)\n".utf8))
                exit(0)
            }
            // Signals are lost until the source is registered, so the address is printed only after that.
            isHeard.enter()
            source.setRegistrationHandler { isHeard.leave() }
            source.resume()
            return source
        }
        isHeard.notify(queue: .main) {
            // Unlike print, this isn't buffered, so a reader at a pipe gets it at once.
            FileHandle.standardOutput.write(Data("\(server.url)\n".utf8))
        }
        withExtendedLifetime(sources) { dispatchMain() }
    }
}
