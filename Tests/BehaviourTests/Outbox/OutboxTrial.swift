// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting

/// A write of a notes application.
struct SaveNote: RequestSpec, Codable {
    var note: Int
    var text = ""

    var request: Post<String> { Post("notes/\(note)", decoding: .text).body(.text(text)) }
}

/// A request whose body is a file: its own, or otherwise the file that is added with it.
struct UploadPhoto: RequestSpec, Codable {
    var name: String
    var file: URL?

    var request: Put<Void> {
        let photo = Put<Void>("photos/\(name)")
        return file.map { photo.body(.file($0)) } ?? photo
    }
}

/// A write that rejects its receipt with an error that isn't a `RequestError`.
struct SaveWithReceipt: DataRequest, Codable {
    typealias Success = String
    typealias Failure = RequestError

    var identifier: String { "receipt" }

    func makeURLRequest(completion: @escaping BuildCompletion) {
        var request = URLRequest(url: URL(string: "https://api.example.com/receipts")!)
        request.httpMethod = "POST"
        completion(.success(request))
    }

    func processData(_ data: Data) throws -> String { throw SampleError(name: "no receipt") }
}

/// The same write with a custom error type.
struct SaveWithOwnError: DataRequest, Codable {
    typealias Success = String
    typealias Failure = SampleError

    var identifier: String { "own error" }

    func makeURLRequest(completion: @escaping BuildCompletion) {
        SaveWithReceipt().makeURLRequest(completion: completion)
    }

    func processData(_ data: Data) throws -> String { try SaveWithReceipt().processData(data) }
    func mapError(_ error: any Error) -> SampleError { error as? SampleError ?? SampleError(name: "\(error)") }
}

/// A folder and a server for outboxes, one after the other as in successive processes.
///
/// Time advances only when the test advances it.
final class OutboxTrial: Sendable {
    /// A request that has arrived.
    struct Arrival: Sendable, Equatable {
        var path: String
        var text: String
        var key: String?
        var account: String?
    }

    typealias Answer = @Sendable (Arrival) -> StubResponse

    let folder = TemporaryFolder()
    let clock = ManualClock()
    let date = ManualDate()
    let connectivity = Connectivity()
    let arrivals = Recorder<Arrival>()
    let client: HTTPClient

    init(maxConcurrentRequests: Int = 16, _ answer: @escaping Answer = { _ in .text("saved") }) {
        let transport = InMemoryTransport { [arrivals] request in
            var arrival = Arrival(path: request.url.path, text: request.text, key: request.headers[.idempotencyKey])
            arrival.account = request.headers["X-Account"]
            arrivals.record(arrival)
            return answer(arrival)
        }
        client = HTTPClient(
            baseURL: URL(string: "https://api.example.com"),
            maxConcurrentRequests: maxConcurrentRequests,
            transport: transport
        ) { [clock, date] in
            ($0.clock, $0.now) = (clock, { date.now })
        }
    }

    /// Opens the outbox of the folder, with ``SaveNote`` as the type “SaveNote”.
    func open(
        _ configure: (inout Outbox.Settings) throws -> Void = { _ in },
        handling handle: @escaping Outbox.Handler<SaveNote> = { _ in }
    ) throws -> Outbox {
        try Outbox(at: folder.url, client: client) {
            $0.connectivity = connectivity
            $0.backoff = .exponential(from: .seconds(1)).jitter(.none)
            $0.register(SaveNote.self, as: "SaveNote", handling: handle)
            try configure(&$0)
        }
    }

    /// The arrivals whose text names a different account than their credentials.
    var sentUnderAnotherAccount: [Arrival] { arrivals.elements.filter { $0.account != $0.text } }

    /// The journal of the folder.
    var journal: URL { folder.file("journal") }

    /// Waits until something sleeps, and then advances the time.
    func pass(_ duration: Duration) async throws {
        try await clock.waitForSleepers()
        date.advance(by: duration / .seconds(1))
        clock.advance(by: duration)
    }
}

extension Outbox {
    /// The states of all entries, in their order.
    var states: [Entry.State] { entries.map(\.state) }
}
