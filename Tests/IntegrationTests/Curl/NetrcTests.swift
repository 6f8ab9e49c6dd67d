// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The passwords that a user keeps for other programs.
    @Suite(.bounded, .enabled(if: DemoProgram.url != nil)) struct NetrcTests {
        /// A file in the home folder, and one that a variable names.
        @Test(arguments: ["HOME", "NETRC"])
        func netrcPasswordIsNotSent(variable: String) async throws {
            let folder = try DownloadFolder()
            let netrc = folder.url.appendingPathComponent(".netrc")
            try Data("machine 127.0.0.1 login ada password secret\n".utf8).write(to: netrc)
            try Data("default login ada password secret\n".utf8).write(to: folder.url.appendingPathComponent("_netrc"))
            let server = try MockServer { _ in
                .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="r""#])
            }

            let process = try DemoProgram.download(
                server.url("/film"),
                to: folder.url.appendingPathComponent("film"),
                environment: [variable: variable == "HOME" ? folder.url.path : netrc.path]
            )
            await process.end()

            #expect(server.requests.count == 1 && server.requests.first?.headers[.authorization] == nil)
        }
    }
}
#endif
