// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The state of a transfer as transcripts: the calls of libcurl, and the reported events.
@Suite(.bounded) struct CurlTransferStateTests {
    /// The inputs of libcurl or the loop.
    enum Input: Sendable, Hashable, CustomTestStringConvertible {
        case send(isIdempotent: Bool)
        /// Sends again, since no byte of the request had been sent.
        case sendUnsent
        case refuse
        case line(String)
        case body(Int)
        case stop(CurlTransferState.Stop)
        case end(Int32)

        var testDescription: String {
            switch self {
            case .send(let isIdempotent): isIdempotent ? "send" : "send once"
            case .sendUnsent: "send what didn't go out"
            case .refuse: "refuse"
            case .line(let text): "line \(text.debugDescription)"
            case .body(let count): "\(count) bytes"
            case .stop(let reason): "stop \(reason)"
            case .end(let code): "end \(code)"
            }
        }
    }

    static func state(
        _ change: (inout CurlTransferState.Limits) -> Void = { _ in },
        endsWithHead: Bool = false
    )
        -> CurlTransferState
    {
        var limits = CurlTransferState.Limits()
        change(&limits)
        return CurlTransferState(url: URL(string: "http://a/")!, limits: limits, endsWithHead: endsWithHead)
    }

    /// The outcomes of inputs, a word or two each; an input that just continues has none.
    static func transcript(_ inputs: [Input], on state: CurlTransferState = state()) -> [String] {
        var state = state
        return inputs.compactMap { state.answer(to: $0) }
    }

    static let head: [Input] = [.line("HTTP/1.1 200 OK\r\n"), .line("A: b\r\n"), .line("\r\n")]

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let inputs: [Input]
        let answers: [String]

        init(_ name: String, _ inputs: [Input], _ answers: String...) {
            (testDescription, self.inputs, self.answers) = (name, inputs, answers)
        }
    }

    static let rows: [Row] = [
        Row("a head and content", head + [.body(5), .body(0), .end(0)], "head 200 A=b", "data", "data", "end"),
        Row("a head alone", head + [.end(0)], "head 200 A=b", "end"),
        Row(
            "informational heads",
            [
                .line("HTTP/1.1 100 Continue\r\n"), .line("\r\n"), .line("HTTP/1.1 103\r\n"), .line("L: 1\r\n"),
                .line("\r\n"),
            ]
                + head + [.end(0)],
            "informational 100",
            "informational 103 L=1",
            "head 200 A=b",
            "end"
        ),
        Row(
            "101 is final",
            [.line("HTTP/1.1 101 X\r\n"), .line("\r\n"), .body(1), .end(0)],
            "head 101",
            "data",
            "end"
        ),
        Row(
            "a status line in the middle of a head is a line without a field",
            [.line("HTTP/1.1 401 No\r\n"), .line("X: y\r\n")] + head + [.end(0)],
            "head 401 X=y A=b",
            "end"
        ),
        Row(
            "an idempotent request is sent again",
            [.send(isIdempotent: true), .send(isIdempotent: true)] + head + [.end(0)],
            "head 200 A=b",
            "end"
        ),
        Row(
            "another isn't",
            [.send(isIdempotent: false), .send(isIdempotent: false), .end(42)],
            "refused",
            "end connectionLost sending"
        ),
        Row(
            "unless the server has refused it unprocessed",
            [.send(isIdempotent: false), .refuse, .send(isIdempotent: false)] + head + [.end(0)],
            "may be sent again",
            "head 200 A=b",
            "end"
        ),
        Row(
            "once for each refusal",
            [.send(isIdempotent: false), .refuse, .send(isIdempotent: false), .send(isIdempotent: false), .end(42)],
            "may be sent again",
            "refused",
            "end connectionLost sending"
        ),
        Row(
            "or nothing of it has gone out",
            [.send(isIdempotent: false), .sendUnsent] + head + [.end(0)],
            "head 200 A=b",
            "end"
        ),
        Row(
            "a refusal after the beginning of a response doesn't count",
            [.send(isIdempotent: false), .line("HTTP/1.1 200 OK\r\n"), .refuse, .end(92)],
            "end connectionLost sending"
        ),
        Row(
            "none is sent again behind its answer, which stays",
            [.send(isIdempotent: true)] + head + [.body(2), .send(isIdempotent: true), .end(42)],
            "head 200 A=b",
            "data",
            "refused",
            "end"
        ),
        Row(
            "nor one that may be sent once",
            [.send(isIdempotent: false)] + head + [.send(isIdempotent: false), .end(42)],
            "head 200 A=b",
            "refused",
            "end"
        ),
        Row(
            "nor one that was cancelled",
            [.stop(.cancelled), .send(isIdempotent: true), .end(42)],
            "stopped",
            "refused",
            "end cancelled sending"
        ),
        Row(
            "trailers are no head",
            head + [.body(1), .line("T: 1\r\n"), .line("HTTP/1.1 500 X\r\n"), .line("\r\n"), .end(0)],
            "head 200 A=b",
            "data",
            "end"
        ),
        Row(
            "a folded line",
            [.line("HTTP/1.1 200 OK\r\n"), .line("A: b\r\n"), .line(" c\r\n"), .line("\r\n"), .end(0)],
            "head 200 A=b c",
            "end"
        ),
        Row("line feeds only", [.line("HTTP/1.1 204\n"), .line("A:b\n"), .line("\n"), .end(0)], "head 204 A=b", "end"),
        Row("HTTP/2", [.line("HTTP/2 200 \r\n"), .line("a: b\r\n"), .line("\r\n"), .end(0)], "head 200 a=b", "end"),
        Row("an end before anything", [.end(0)], "end connectionLost receiving"),
        Row("an end in the middle of a head", Array(head.dropLast()) + [.end(0)], "end connectionLost receiving"),
        Row(
            "an end behind an informational head",
            [.line("HTTP/1.1 100 Continue\r\n"), .line("\r\n"), .end(0)],
            "informational 100",
            "end connectionLost receiving"
        ),
        Row("a failure before a head", [.end(7)], "end cannotConnect sending"),
        Row("a failure in the head", Array(head.dropLast()) + [.end(56)], "end connectionLost sending"),
        Row(
            "a failure in the content",
            head + [.body(1), .end(18)],
            "head 200 A=b",
            "data",
            "end connectionLost receiving"
        ),
        Row("content before a head", [.body(1), .end(23)], "abort", "end badResponse sending"),
        Row("two ends", head + [.end(0), .end(0), .end(7)], "head 200 A=b", "end"),
    ]

    @Test(arguments: rows)
    func transcriptProducesExpectedEvents(_ row: Row) {
        #expect(Self.transcript(row.inputs) == row.answers)
    }

    static let stops: [CurlTransferState.Stop] = [
        .cancelled, .timedOut, .headTooLarge, .bodyTooLarge, .badContent(.truncated), .badFraming(.severalLengths),
        .bodyFailed, .bodyStalled, .transportClosed,
    ]

    /// Each sequence of inputs that leads to a phase.
    static let phases: [[Input]] = [
        [], Array(head.dropLast()), [.line("HTTP/1.1 100 C\r\n"), .line("\r\n")], head, head + [.body(3)],
        head + [.body(3), .line("T: 1\r\n")], head + [.end(0)], [.end(7)], [.stop(.cancelled)],
        head + [.stop(.timedOut)],
        [.stop(.cancelled), .end(42)],
    ]

    static let inputs: [Input] =
        [
            .send(isIdempotent: true), .send(isIdempotent: false), .line("HTTP/1.1 200 OK\r\n"), .line("A: b\r\n"),
            .line("\r\n"), .line("\n"), .line(""), .body(0), .body(9),
        ]
        + stops.map(Input.stop) + [.end(0), .end(7), .end(42)]

    /// However a transfer continues, it has one end, and no event after it.
    ///
    /// A full run has every pair of inputs in every phase. A small one has every pair once, and every input in every
    /// phase.
    /// phase.
    @Test(arguments: phases.indices, [false, true])
    func endIsReportedOnceAndLast(_ phase: Int, _ endsWithHead: Bool) {
        for (row, first) in Self.inputs.enumerated() {
            for (column, second) in Self.inputs.enumerated()
            where Scale.isWhole || (row + column) % Self.phases.count == phase {
                let inputs = Self.phases[phase] + [first, second, .end(0), .end(7)]
                let told = Self.transcript(inputs, on: Self.state(endsWithHead: endsWithHead))
                    .filter { $0 != "abort" && $0 != "refused" && $0 != "stopped" }
                let ends = told.indices.filter { told[$0].hasPrefix("end") }
                #expect(ends == [told.count - 1], "\(inputs): \(told)")
                #expect(told.count { $0.contains("head ") } <= 1, "\(inputs): \(told)")
                if told.last == "end" { #expect(told.contains { $0.contains("head ") }, "\(inputs): \(told)") }
            }
        }
    }

    /// A stop counts from its moment on: later results of libcurl are its consequences.
    @Test(arguments: stops, [[], Array(head.dropLast()), head, head + [.body(3)]])
    func stopReasonDeterminesEnd(_ stop: CurlTransferState.Stop, _ phase: [Input]) throws {
        let codes: [CurlTransferState.Stop: String] = [
            .cancelled: "cancelled", .timedOut: "timedOut", .headTooLarge: "headTooLarge",
            .bodyTooLarge: "bodyTooLarge", .badContent(.truncated): "badResponse",
            .badFraming(.severalLengths): "badResponse", .bodyStalled: "timedOut",
            .bodyFailed: "invalidRequest", .transportClosed: "cancelled", .processEnds: "closed",
        ]
        let end = try #require(codes[stop])
        for code: Int32 in [0, 18, 23, 42] {
            let told = Self.transcript(
                phase + [.stop(stop), .body(1), .line("A: b\r\n"), .stop(.cancelled), .end(code)]
            )
            let tail = Array(told.drop { $0 != "stopped" })
            #expect(tail.dropLast() == ["stopped", "abort", "abort", "refused"])
            #expect(tail.last?.hasPrefix("end \(end)") == true)
        }
    }

    @Test func headAboveByteLimitAborts() {
        let inputs: [Input] = [.line("HTTP/1.1 200 OK\r\n"), .line("A: 12345678\r\n"), .line("\r\n"), .end(23)]
        let size = 17 + 13 + 2

        #expect(Self.transcript(inputs, on: Self.state { $0.head = size }).first == "head 200 A=12345678")
        #expect(
            Self.transcript(inputs, on: Self.state { $0.head = size - 1 }) == ["abort", "end headTooLarge receiving"]
        )
    }

    @Test func headAboveLineLimitAborts() {
        #expect(Self.transcript(Self.head, on: Self.state { $0.headLines = 3 }) == ["head 200 A=b"])
        #expect(Self.transcript(Self.head + [.end(23)], on: Self.state { $0.headLines = 2 }).first == "abort")
    }

    @Test(arguments: [(Int32(0), false, true), (0, true, false), (18, false, false)])
    func trailersRequireCompleteResponse(_ code: Int32, _ isTruncated: Bool, _ isTold: Bool) {
        var state = Self.state()
        let inputs: [Input] = Self.head + [.body(1), .line("X-Sum: 1\r\n"), .line("B:  c \r\n"), .line("\r\n")]
        for input in inputs { _ = state.answer(to: input) }
        #expect(state.trailers == nil)

        _ = state.end(CurlResult(code: code, text: ""), isTruncated: isTruncated)

        #expect(state.trailers == (isTold ? ["X-Sum": "1", "B": "c"] : nil))
    }

    @Test func trailersAboveHeadLimitsAbort() {
        let trailers: [Input] = [.line("T: 1\r\n"), .line("T: 2\r\n"), .line("\r\n")]
        let whole = Self.head + trailers + [.end(0)]

        #expect(Self.transcript(whole, on: Self.state { $0.headLines = 3 }).last == "end")
        #expect(Self.transcript(whole + trailers, on: Self.state { $0.headLines = 3 }).contains("abort"))
        #expect(Self.transcript(whole, on: Self.state { $0.head = 25 }).last == "end")
        let long: [Input] = [.line("T: \(String(repeating: "x", count: 24))\r\n"), .end(23)]
        #expect(
            Self.transcript(Self.head + long, on: Self.state { $0.head = 25 }).suffix(2)
                == ["abort", "end headTooLarge receiving"]
        )
    }

    @Test func headLimitsApplyToEachHead() {
        let state = Self.state { ($0.headLines, $0.informational) = (3, 2) }
        let continues: [Input] = [.line("HTTP/1.1 100 C\r\n"), .line("A: b\r\n"), .line("\r\n")]

        #expect(Self.transcript(continues + continues + Self.head, on: state).last == "head 200 A=b")
        #expect(Self.transcript(continues + continues + continues, on: state).last == "abort")
    }

    @Test func bodyAboveLimitAborts() {
        let state = Self.state { $0.body = 10 }

        #expect(Self.transcript(Self.head + [.body(4), .body(6), .body(0), .end(0)], on: state).last == "end")
        #expect(
            Self.transcript(Self.head + [.body(4), .body(7), .body(1), .end(23)], on: state)
                == ["head 200 A=b", "data", "abort", "abort", "end bodyTooLarge receiving"]
        )
    }

    /// With libcurl's errors if a server has responded and doesn't need the rest of the request (RFC 9113, 8.1), or
    /// also closes the connection.
    /// the connection as well.
    @Test(
        arguments: [
            (92, true, "5", 5, true), (92, true, "9", 5, false), (92, true, nil, 5, true), (92, false, nil, 5, false),
            (18, true, "5", 5, true), (18, true, "9", 5, false), (18, true, nil, 5, false), (16, true, "5", 5, true),
        ] as [(Int32, Bool, String?, Int, Bool)]
    )
    func completeResponseBeforeRequestEndSucceeds(
        code: Int32,
        hasContent: Bool,
        length: String?,
        received: Int,
        isGood: Bool
    ) throws {
        var state = CurlTransferState(
            url: try #require(URL(string: "http://a/")),
            limits: CurlTransferState.Limits(),
            hasContent: hasContent
        )
        let lines = ["HTTP/2 200\r\n"] + (length.map { ["Content-Length: \($0)\r\n"] } ?? []) + ["\r\n"]
        for line in lines { _ = Array(line.utf8).withUnsafeBytes { state.receiveLine($0) } }
        _ = state.receiveBody(received)
        _ = state.receiveEncoded(received)

        let summary = state.end(CurlResult(code: code, text: "text", hasMessage: false))?.summary
        #expect(summary == (isGood ? "end" : "end connectionLost receiving"))
    }

    @Test func headResponseWithBodyEndsAfterHead() {
        let state = Self.state(endsWithHead: true)

        #expect(Self.transcript(Self.head + [.end(23)], on: state) == ["last head 200 A=b", "end"])
        #expect(
            Self.transcript(Self.head + [.stop(.cancelled), .end(42)], on: state).last == "end cancelled receiving"
        )
        #expect(Self.transcript([.line("HTTP/1.1 100 C\r\n"), .line("\r\n")], on: state) == ["informational 100"])
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", "head 200"), ("HTTP/1.1 404", "head 404"), ("HTTP/2 503 ", "head 503"),
        ("HTTP/1.1 2000 X", "abort"), ("HTTP/1.1 000 X", "abort"), ("HTTP/1.1", "abort"), ("HTTP/1.1 abc", "abort"),
        ("HTTP/1.1  200", "abort"),
    ])
    func parsesStatusAfterFirstSpace(_ line: String, _ expected: String) {
        let told = Self.transcript([.line("\(line)\r\n"), .line("\r\n")])
        #expect(told == [expected])
    }
}

extension CurlTransferState {
    /// Handles an input, and returns its outcome.
    fileprivate mutating func answer(to input: CurlTransferStateTests.Input) -> String? {
        switch input {
        case .send(let isIdempotent): return shouldSend(isIdempotent: isIdempotent) ? nil : "refused"
        case .sendUnsent: return shouldSend(isIdempotent: false, hasSentBytes: false) ? nil : "refused"
        case .refuse:
            recordRefusal()
            return isRefused ? "may be sent again" : nil
        case .line(let text):
            let reception = Array(text.utf8).withUnsafeBytes { receiveLine($0) }
            switch reception {
            case .more: return nil
            case .event(let event): return event.summary
            case .last(let event): return "last \(event.summary)"
            case .abort: return "abort"
            }
        case .body(let count): return receiveBody(count) ? "data" : "abort"
        case .stop(let reason): return stop(reason) ? "stopped" : "refused"
        case .end(let code): return end(CurlResult(code: code, text: "text")).map(\.summary)
        }
    }
}

extension TransferEvent {
    fileprivate var summary: String {
        switch self {
        case .informational(let head): "informational \(head.summary)"
        case .sent: "sent"
        case .head(let head): "head \(head.summary)"
        case .data: "data"
        case .trailers: "trailers"
        case .metrics: "metrics"
        case .end(nil): "end"
        case .end(let error?): "end \(error.code) \(error.phase)"
        }
    }
}

extension HTTPResponseHead {
    fileprivate var summary: String {
        (["\(status.code)"] + headers.map { "\($0.name.rawValue)=\($0.value)" }).joined(separator: " ")
    }
}
#endif
