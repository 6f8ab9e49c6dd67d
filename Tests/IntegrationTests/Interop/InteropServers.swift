// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import Testing

/// The servers and certificates that `Scripts/interop` has made; `nil` in any other run.
struct InteropServers: Sendable {
    /// The servers, named by their peculiarity.
    enum Server: String, Sendable {
        /// nginx, with HTTP/2 and a valid certificate.
        case trusted
        /// nginx, with a certificate for another host, an expired one, and a self-signed one.
        case elsewhere, expired, own
        /// nginx, which requests a client certificate and reports the one that it got.
        case clients
        /// nginx, without TLS.
        case plain
        /// nginx, with HTTP/2, which closes each connection after that number of requests and logs its responses.
        case brief1, brief2, brief5, brief20, brief100, brief1000
        /// Python's h2, which does what the path of a request says, including faults; and the same for floods.
        case peer, floods
        /// OpenSSL, which does with TLS 1.3 what the path of a request says.
        case updates
        /// Python's websockets, without and with TLS, which does what the path of a request says.
        case sockets, secureSockets
        /// OpenSSL, with one version of TLS.
        case tls11, tls12, tls13
        /// OpenSSL, which sends an unrelated certificate along with its own; OpenSSL, which staples a status.
        case decoy, stapled
        /// The same, refusing clients without a certificate.
        case asking12, asking13
    }

    static let current = InteropServers(ProcessInfo.processInfo.environment)

    private let folder: URL
    private let ports: [String: Int]
    /// Whether the system's authorities include the one that was made for these tests.
    let areTrustedBySystem: Bool

    private init?(_ environment: [String: String]) {
        guard let folder = environment["REQUESTS_INTEROP_FOLDER"], let list = environment["REQUESTS_INTEROP_SERVERS"]
        else { return nil }
        self.folder = URL(fileURLWithPath: folder)
        let pairs = list.split(separator: " ").map { $0.split(separator: "=") }
        ports = Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), Int($0[1]) ?? 0) })
        areTrustedBySystem = environment["REQUESTS_INTEROP_SYSTEM"] != nil
    }

    /// Whether there is such a server.
    func has(_ server: Server) -> Bool { ports[server.rawValue] != nil }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
    func text(_ name: String) throws -> String { try String(contentsOf: file(name), encoding: .utf8) }
    func certificate(_ name: String) throws -> TrustPolicy.Certificate {
        try TrustPolicy.Certificate(contentsOf: file("\(name).pem"))
    }
    func pin(_ name: String) throws -> TrustPolicy.PublicKeyPin { TrustPolicy.PublicKeyPin(try certificate(name)) }

    /// Only the authority that was made for these tests.
    var authority: TrustPolicy { get throws { .only([try certificate("authority")]) } }

    /// The system's authorities, and that authority.
    var extra: TrustPolicy { get throws { .system.adding([try certificate("authority")]) } }

    func identity(_ name: String) throws -> TrustPolicy.ClientIdentity {
        try TrustPolicy.ClientIdentity(pem: text("\(name).pem") + text("\(name).key"))
    }

    func url(_ server: Server, host: String = "localhost") throws -> URL {
        let port = try #require(ports[server.rawValue])
        let isPlain = [.plain, .sockets].contains(server)
        return try #require(URL(string: "\(isPlain ? "http" : "https")://\(host):\(port)/"))
    }

    /// Sends a request to a server, on a new transport by default.
    func ask(
        _ server: Server,
        host: String = "localhost",
        trust: TrustPolicy?,
        over transport: (any HTTPTransport)? = nil
    ) async throws -> InteropAnswer {
        let call = Call(try url(server, host: host)) { $0.trust = trust }
        let transport = transport ?? CurlTransport()
        return InteropAnswer(try await OperationQueue().send(call, session: transport).text)
    }

    /// Returns the error of a request to a server.
    func refusal(
        _ server: Server,
        host: String = "localhost",
        trust: TrustPolicy?,
        over transport: (any HTTPTransport)? = nil
    ) async throws -> RequestError? {
        do {
            _ = try await ask(server, host: host, trust: trust, over: transport)
            return nil
        } catch let error as RequestError {
            return error
        }
    }
}

/// A queue with a trust policy for requests without their own.
final class TrustingQueue: RequestQueue {
    let environment: RequestEnvironment
    private let queue = OperationQueue()

    init(_ trust: TrustPolicy) {
        var environment = RequestEnvironment()
        environment.trust = trust
        self.environment = environment
    }

    var operations: [Operation] { queue.operations }
    func addOperation(_ operation: Operation) { queue.addOperation(operation) }
}

/// The response of nginx about a request.
struct InteropAnswer: Sendable, Hashable {
    /// The number of the connection.
    let connection: String
    let version: String
    /// `SUCCESS`, `NONE`, or the reason of the failure.
    let verification: String
    let client: String
    let tls: String
    /// Whether an earlier TLS session was resumed.
    let isResumed: Bool

    init(_ text: String) {
        let fields =
            text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            + Array(repeating: "", count: 6)
        (connection, version, verification, client, tls) = (fields[0], fields[1], fields[2], fields[3], fields[4])
        isResumed = fields[5] == "r"
    }
}
#endif
