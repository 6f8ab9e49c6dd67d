// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import RequestsTesting

/// Serves a folder or a script until it is told to end.
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
            // The default would end the process before anyone is asked.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler {
                server.stop()
                let (requests, connections) = (server.requestCount, server.connectionCount)
                FileHandle.standardError.write(Data("requests: \(requests), connections: \(connections)\n".utf8))
                exit(0)
            }
            // Until then a signal is lost; so nobody is told before that there is somebody to end.
            isHeard.enter()
            source.setRegistrationHandler { isHeard.leave() }
            source.resume()
            return source
        }
        isHeard.notify(queue: .main) {
            // Unlike print, this isn't buffered: whoever reads it through a pipe has it at once.
            FileHandle.standardOutput.write(Data("\(server.url)\n".utf8))
        }
        withExtendedLifetime(sources) { dispatchMain() }
    }
}
