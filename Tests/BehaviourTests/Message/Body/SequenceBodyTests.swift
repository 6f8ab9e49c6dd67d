// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Bodies of asynchronous sequences, as transports receive them.
@Suite(.bounded) struct SequenceBodyTests {
    private struct Broken: Error, Equatable {}

    private static func stream<Element: Sendable>(
        _ elements: [Element],
        _ error: (any Error)? = nil
    )
        -> AsyncThrowingStream<Element, any Error>
    {
        AsyncThrowingStream { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish(throwing: error)
        }
    }

    private func post(_ body: HTTPBody) -> HTTPRequest {
        HTTPRequest(url: URL(string: "https://api.example.com/notes") ?? URL(filePath: "/"), method: .put, body: body)
    }

    static let bodies: [(name: String, body: @Sendable () -> HTTPBody)] = [
        ("data", { .stream(stream([Data("a".utf8), Data(), Data("bc".utf8)])) }),
        ("arrays", { .stream(stream([[UInt8]("ab".utf8), [], [UInt8]("c".utf8)])) }),
        ("slices", { .stream(stream([[UInt8]("_abc".utf8).dropFirst()])) }),
        ("text", { .stream(stream(["abc"]).map(\.utf8)) }),
        ("a length", { .stream(stream([Data("abc".utf8)]), length: 3) }),
        ("a closure", { .stream { stream([Data("abc".utf8)]) } }),
        ("a stream within a stream", { .stream(HTTPBody.Stream { InputStream(data: Data("abc".utf8)) }, length: 3) }),
    ]

    @Test(arguments: bodies.map(\.name)) func elementsAreSentInOrder(name: String) async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let row = try #require(Self.bodies.first { $0.name == name })

        _ = try await HTTPClient(transport: transport).send(post(row.body()))

        #expect(transport.requests.map(\.text) == ["abc"])
        #expect(transport.requests.first?.headers[.contentType] == "application/octet-stream")
    }

    @Test func blockingReaderReadsAllElements() throws {
        let stream = HTTPBody.Stream(Self.stream([Data(count: 200_000), Data(count: 1)]), length: 200_001)

        #expect(try stream.open().readAll().count == 200_001)
        #expect(throws: HTTPBody.Stream.AlreadyRead.self) { try stream.open().readAll() }
    }

    @Test func bodyReportsLengthTypeAndReplayability() throws {
        let once = HTTPBody.stream(Self.stream([Data()]), length: 7, type: .csv)
        let again = HTTPBody.stream { Self.stream([Data()]) }

        #expect(!once.isReplayable && once.length == 7 && once.headers[.contentType] == "text/csv")
        #expect(again.isReplayable && again.length == nil)
        #expect("\(once)" == "a stream of 7 bytes of text/csv")
    }

    // MARK: Sent once, or again

    /// A server that makes the client send its request again.
    static let reasons: [(name: String, response: StubResponse)] = [
        ("a retry", .status(.serviceUnavailable)),
        ("a redirect", .redirect(to: "/end", status: .temporaryRedirect)),
        ("a permanent redirect", .redirect(to: "/end", status: .permanentRedirect)),
        ("a challenge", .status(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"a\""])),
    ]

    private func outcome(of body: HTTPBody, after reason: String) async throws -> (RequestError?, [String]) {
        let row = try #require(Self.reasons.first { $0.name == reason })
        let count = Locked(0)
        let transport = InMemoryTransport { _ in
            count.withLock {
                $0 += 1
                return $0
            } == 1 ? row.response : .status(.ok)
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ClosureInterceptor.retrying,
                ChallengeInterceptor { _, _ in URLCredential(user: "a", password: "b", persistence: .none) },
            ]
        }
        do {
            _ = try await client.send(post(body))
            return (nil, transport.requests.map(\.text))
        } catch {
            return (error, transport.requests.map(\.text))
        }
    }

    @Test(arguments: reasons.map(\.name)) func closureIsCalledForEachTransfer(reason: String) async throws {
        let opened = Locked(0)
        let body = HTTPBody.stream {
            opened.withLock { $0 += 1 }
            return Self.stream([Data("abc".utf8)])
        }

        let (error, sent) = try await outcome(of: body, after: reason)

        #expect(error == nil && sent == ["abc", "abc"])
        #expect(opened.withLock { $0 } == 2)
    }

    @Test(arguments: reasons.map(\.name)) func sequenceIsNeverSentTwice(reason: String) async throws {
        let (error, sent) = try await outcome(of: .stream(Self.stream([Data("abc".utf8)])), after: reason)

        let codes = [error?.code, (error?.underlying as? RequestError)?.code]
        #expect(codes.contains(reason == "a challenge" ? .unacceptableStatus : .bodyNotReplayable))
        #expect(sent == ["abc"])
    }

    // MARK: Failures

    @Test(arguments: [0, 2, 4, 5]) func mismatchedLengthFails(length: Int64) async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let body = HTTPBody.stream(Self.stream([[1, 2], [3]] as [[UInt8]]), length: length)

        let error = await #expect(throws: RequestError.self) {
            _ = try await HTTPClient(transport: transport).send(post(body))
        }

        #expect(error?.code == .invalidRequest && error?.underlying is InvalidValue)
        #expect(transport.requests.isEmpty)
    }

    /// An error of another connection must not be mistaken for one of the request, which would be retried.
    static let failures: [any Error] = [
        Broken(), URLError(.networkConnectionLost), RequestError(.timedOut, phase: .receiving), CancellationError(),
    ]

    @Test(arguments: failures.indices, [false, true])
    func sequenceErrorFailsRequest(index: Int, isReplayable: Bool) async throws {
        let failure = Self.failures[index]
        let transport = InMemoryTransport { _ in .status(.ok) }
        let opened = Locked(0)
        let body = HTTPBody.stream {
            opened.withLock { $0 += 1 }
            return Self.stream([Data("abc".utf8)], failure)
        }

        let error = await #expect(throws: RequestError.self) {
            let once = HTTPBody.stream(Self.stream([Data("abc".utf8)], failure))
            _ = try await HTTPClient(transport: transport).send(post(isReplayable ? body : once))
        }

        #expect(error?.code == .encoding && error?.isConnectivityError == false)
        #expect(error?.underlying.map { type(of: $0) == type(of: failure) } == true)
        #expect(transport.requests.isEmpty && opened.withLock { $0 } <= 1)
    }

    @Test func closureErrorFailsRequest() async throws {
        let body = HTTPBody.stream { () async throws -> AsyncStream<Data> in throw Broken() }

        let error = await #expect(throws: RequestError.self) {
            _ = try await HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }).send(post(body))
        }

        #expect(error?.code == .encoding && error?.underlying as? Broken == Broken())
    }

    @Test func cancelledRequestReleasesSequence() async throws {
        let (begun, released) = (Gate(), Gate())
        let body = HTTPBody.stream(
            AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in released.open() }
                continuation.yield(Data("abc".utf8))
            }.map { chunk in
                begun.open()
                return chunk
            }
        )

        let task = Task { try await HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }).send(post(body)) }
        try await begun.wait()
        task.cancel()

        try await released.wait()
        await #expect(throws: RequestError.self) { try await task.value }
    }

    // MARK: Parts of a form

    @Test func multipartPartCanBeSequence() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let body = HTTPBody.multipart(boundary: "b") { form in
            form.add("1", for: "a")
            form.add(.stream(Self.stream([Data("x".utf8), Data("y".utf8)]), length: 2), for: "s")
            form.add("2", for: "c")
        }
        #expect(try body.resolved().length != nil && !body.isReplayable)

        _ = try await HTTPClient(transport: transport).send(post(body))

        let text = try #require(transport.requests.first?.text)
        #expect(text.contains("\r\n\r\nxy\r\n--b\r\n") && text.hasSuffix("\r\n\r\n2\r\n--b--\r\n"))
        #expect(text.utf8.count == (try body.resolved().length).map(Int.init))
    }

    @Test func partWithMismatchedLengthFails() async throws {
        let body = HTTPBody.multipart { form in
            form.add(.stream(Self.stream([Data("xy".utf8)]), length: 1), for: "s")
            form.add(.stream(Self.stream([Data("z".utf8)]), length: 2), for: "t")
        }

        let error = await #expect(throws: RequestError.self) {
            _ = try await HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }).send(post(body))
        }

        #expect(error?.code == .invalidRequest)
    }
}

extension ClosureInterceptor {
    /// Retries a rejected request immediately.
    fileprivate static var retrying: ClosureInterceptor {
        ClosureInterceptor(retry: { error, _ in error.response?.status == .serviceUnavailable ? .retry : .pass })
    }
}
