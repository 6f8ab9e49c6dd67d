// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Properties of requests and queues whose type differs slightly from that of a requirement: none may lose to a
/// default.
@Suite(.bounded) struct DefaultedRequirementTests {
    private struct Event: Decodable, Sendable, Equatable {
        let startsAt: Date
    }

    private struct EventRequest: DecodableRequest {
        typealias Success = Event
        let identifier = "event"
        let keyDecodingStrategy = JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase
        let dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .iso8601
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test func nonOptionalDecodingStrategyIsUsed() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .json(#"{"starts_at": "1970-01-01T00:01:00Z"}"#) })

        #expect(try await queue.fetch(EventRequest()) == Event(startsAt: Date(timeIntervalSince1970: 60)))
    }

    private struct StatusRequest<Statuses: Sequence & Sendable>: DataRequest where Statuses.Element == Int {
        typealias Success = Data
        var identifier: String { "status" }
        let validHTTPStatusCodes: Statuses
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private struct NamedStatusRequest: DataRequest {
        typealias Success = Data
        let identifier = "status"
        let validHTTPStatusCodes: Set<HTTPStatus> = [.notFound]
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private func accepts(_ request: some NetworkRequest) async -> Bool {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) })
        return await Probe(request, on: queue).run(on: queue).ended().first?.value != nil
    }

    @Test func validStatusCodesCanBeSetOrRange() async {
        #expect(await accepts(StatusRequest(validHTTPStatusCodes: [404])))
        #expect(await accepts(StatusRequest(validHTTPStatusCodes: Set([404]))))
        #expect(await accepts(StatusRequest(validHTTPStatusCodes: 200..<500)))
        #expect(await accepts(StatusRequest(validHTTPStatusCodes: 404...404)))
        #expect(await accepts(NamedStatusRequest()))
        #expect(await !accepts(StatusRequest(validHTTPStatusCodes: 200...299)))
    }

    private struct Film: DownloadRequest {
        typealias Success = Data
        let identifier = "film"
        let expectedSHA256 = String(repeating: "0", count: 64)
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func process(_ file: Download.File) throws -> Data { try Data(contentsOf: file.url) }
    }

    @Test func nonOptionalExpectedDigestIsVerified() async {
        let queue = TestQueue()

        let error = await Probe(Film(), on: queue).run(on: queue).ended().first?.error as? RequestError

        #expect(error?.code == .digestMismatch)
    }

    private struct Song: DownloadRequest {
        typealias Success = URL
        let identifier = "song"
        let destination: URL
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test func urlDestinationReceivesDownload() async throws {
        let folder = TemporaryFolder()

        let file = try await TestQueue().fetch(Song(destination: folder.file("song.mp3")))
        let other = try await TestQueue().fetch(Song(destination: folder.url))

        #expect(file == folder.file("song.mp3"))
        #expect(other.deletingLastPathComponent().lastPathComponent == folder.url.lastPathComponent)
    }

    private struct Settings: Decodable, Sendable, Equatable {
        let volume: Int
    }

    private struct SettingsRequest: DecodableRequest {
        typealias Success = Settings
        let identifier = "settings"
        let decoder = PropertyListDecoder()
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func processData(_ data: Data) throws -> Settings { try decoder.decode(Settings.self, from: data) }
    }

    @Test func requestCanDeclareOtherDecoderType() async throws {
        let content = try PropertyListEncoder().encode(["volume": 11])
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: content) })

        #expect(try await queue.fetch(SettingsRequest()) == Settings(volume: 11))
    }

    private final class StandIn: RequestQueue {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("from the stand-in".utf8)) }
        let underlyingQueue = DispatchQueue(label: "stand-in")
        let base = OperationQueue()
        var operations: [Operation] { base.operations }
        func addOperation(_ operation: Operation) { base.addOperation(operation) }
    }

    @Test func queueUsesConcretelyTypedTransport() async throws {
        #expect(try await StandIn().fetch(Get<String>().modified { $0.http.url = home }) == "from the stand-in")
    }

    // MARK: Decoder

    private struct Order: Decodable, Sendable, Equatable {
        let madeAt: Date
    }

    private struct OrderRequest: DecodableRequest {
        typealias Success = Order
        let identifier = "order"
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private struct EnvelopeRequest: DecodableRequest {
        typealias Success = Order
        let identifier = "envelope"
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func processData(_ data: Data) throws -> Order { try decoder.decode([Order].self, from: data)[0] }
    }

    private struct OwnDateRequest: DecodableRequest {
        typealias Success = Order
        let identifier = "own"
        let dateDecodingStrategy = JSONDecoder.DateDecodingStrategy.secondsSince1970
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    private func client(_ json: String) -> HTTPClient {
        HTTPClient(transport: InMemoryTransport { _ in .json(json) }) {
            $0.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
        }
    }

    private let minute = Order(madeAt: Date(timeIntervalSince1970: 60))

    @Test func decodableRequestUsesEnvironmentDecoder() async throws {
        #expect(try await client(#"{"made_at": "1970-01-01T00:01:00Z"}"#).fetch(OrderRequest()) == minute)
        #expect(try await client(#"[{"made_at": "1970-01-01T00:01:00Z"}]"#).fetch(EnvelopeRequest()) == minute)
    }

    @Test func requestStrategyOverridesEnvironment() async throws {
        #expect(try await client(#"{"made_at": 60}"#).fetch(OwnDateRequest()) == minute)
    }

    private struct Reading: Interceptor {
        let orders: Recorder<Order>

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            let answer = try await next(request)
            orders.record(try answer.map { $0.data ?? Data() }.decodeJSON(Order.self))
            if request.url == home {
                orders.record(try await context.send(HTTPRequest(url: server)).decodeJSON(Order.self))
            }
            return answer
        }
    }

    @Test func interceptorsUseEnvironmentDecoder() async throws {
        let orders = Recorder<Order>()
        let client = client(#"{"made_at": "1970-01-01T00:01:00Z"}"#).inheriting {
            $0.interceptors = [Reading(orders: orders)]
        }

        _ = try await client.fetch(OrderRequest())

        #expect(orders.elements == [minute, minute])
    }

    @Test func jsonLinesUseEnvironmentDecoder() async throws {
        let stream = try await client(#"{"made_at": "1970-01-01T00:01:00Z"}"# + "\n").stream(HTTPRequest(url: home))
        var orders: [Order] = []

        for try await order in stream.jsonLines(Order.self) { orders.append(order) }

        #expect(orders == [minute])
    }
}
