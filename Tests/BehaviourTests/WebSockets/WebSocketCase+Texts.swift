// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsWebSockets

// The test cases for text, closing and sizes.
extension WebSocketCase {
    // MARK: 6

    /// Bytes of a text, and whether they are UTF-8: after Markus Kuhn's stress test of decoders.
    private static let bytes: [(group: String, valid: [String], invalid: [String])] = [
        ("6.5", ["cebae1bdb9cf83cebcceb5", "48656c6c6f2dc2b540c39fc3b6"], []),
        ("6.7", ["00", "c280", "e0a080", "f0908080"], []),
        ("6.8", [], ["f888808080", "fc8480808080"]),
        ("6.9", ["7f", "dfbf", "efbfbf", "f48fbfbf"], []),
        ("6.10", [], ["f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf"]),
        ("6.11", ["ed9fbf", "ee8080", "efbfbd", "f48fbfbf"], ["f4908080"]),
        (
            "6.12", [],
            ["80", "bf", "80bf", "80bf80", "80bf80bf", "80bf80bf80", "80bf80bf80bf"]
                + [(0x80...0xBF).map { String($0, radix: 16) }.joined()]
        ),
        ("6.13", [], [0xC0...0xDF, 0xE0...0xEF, 0xF0...0xF7, 0xF8...0xFB, 0xFC...0xFD].map(Self.lonelyStarts)),
        (
            "6.14", [],
            [
                "c0", "e080", "f08080", "f8808080", "fc80808080", "df", "efbf", "f7bfbf", "fbbfbfbf", "fdbfbfbfbf",
            ]
        ),
        ("6.15", [], ["c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf"]),
        ("6.16", [], ["fe", "ff", "fefeffff"]),
        ("6.17", [], ["c0af", "e080af", "f08080af", "f8808080af", "fc80808080af"]),
        ("6.18", [], ["c1bf", "e09fbf", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf"]),
        ("6.19", [], ["c080", "e08080", "f0808080", "f880808080", "fc8080808080"]),
        ("6.20", [], ["eda080", "edadbf", "edae80", "edafbf", "edb080", "edbe80", "edbfbf"]),
        (
            "6.21", [],
            [
                "eda080edb080", "eda080edbfbf", "edadbfedb080", "edadbfedbfbf", "edae80edb080", "edae80edbfbf",
                "edafbfedb080", "edafbfedbfbf",
            ]
        ),
        ("6.22", Self.noncharacters, []),
        ("6.23", ["efbfb9", "efbfba", "efbfbb", "efbfbc", "efbfbd", "efbfbe", "efbfbf"], []),
    ]

    private static func lonelyStarts(_ range: ClosedRange<Int>) -> String {
        range.map { String($0, radix: 16) + "20" }.joined()
    }

    /// The last two code points of each plane.
    private static let noncharacters: [String] = (0...16).flatMap { plane in
        [0xFFFE, 0xFFFF].map { last in
            let scalar = Unicode.Scalar(UInt32(plane << 16 | last)).map(String.init) ?? ""
            return scalar.utf8.map { String($0, radix: 16) }.joined()
        }
    }

    private static let invalid = End.failed(1007)

    static let texts: [WebSocketCase] = {
        let empty = { (opcode: WebSocketFrame.Opcode, isFinal: Bool) in WebSocketFrame(opcode, isFinal: isFinal) }
        let middle = WebSocketFrame(.continuation, Data("middle frame payload".utf8), isFinal: false)
        let hello = "Hello-µ@ßöäüàá-UTF-8!!"
        let greek = "κόσμε"
        let broken = Data(greek.utf8) + Data([0xED, 0xA0, 0x80]) + Data("edited".utf8)
        let early = Data(greek.utf8) + Data([0xF4, 0x90, 0x80, 0x80]) + Data("edited".utf8)
        func pieces(_ data: Data, _ sizes: [Int]) -> [WebSocketFrame] {
            var (rest, frames) = (data, [WebSocketFrame]())
            for (index, size) in sizes.enumerated() {
                let isLast = index == sizes.count - 1
                let part = isLast ? rest : rest.prefix(size)
                let opcode: WebSocketFrame.Opcode = index == 0 ? .text : .continuation
                frames.append(WebSocketFrame(opcode, Data(part), isFinal: isLast))
                rest = rest.dropFirst(size)
            }
            return frames
        }
        func single(_ text: Data) -> [WebSocketFrame] { pieces(text, Array(repeating: 1, count: text.count)) }
        let prefixes = (1...Data(greek.utf8).count).map { count -> WebSocketCase in
            let part = Data(Data(greek.utf8).prefix(count))
            let text = String(bytes: part, encoding: .utf8)
            let messages = text.map { [WebSocket.Message.text($0)] } ?? []
            return WebSocketCase("6.6.\(count)", pieces(part, [0]), messages, text == nil ? invalid : .closed(1000))
        }
        var table: [WebSocketCase] = []
        for (group, valid, invalid) in bytes {
            for (index, hex) in (valid + invalid).enumerated() {
                let (data, isValid) = (Data(hex: hex), index < valid.count)
                let messages: [WebSocket.Message] = isValid ? [.text(String(decoding: data, as: UTF8.self))] : []
                let end = isValid ? .closed(1000) : Self.invalid
                table.append(WebSocketCase("\(group).\(index + 1)", pieces(data, [0]), messages, end))
            }
        }
        return [
            WebSocketCase("6.1.1", [.text("")], [.text("")]),
            WebSocketCase(
                "6.1.2",
                [empty(.text, false), empty(.continuation, false), empty(.continuation, true)],
                [.text("")]
            ),
            WebSocketCase(
                "6.1.3",
                [empty(.text, false), middle, empty(.continuation, true)],
                [.text("middle frame payload")]
            ),
            WebSocketCase("6.2.1", [.text(hello)], [.text(hello)]),
            WebSocketCase("6.2.2", pieces(Data(hello.utf8), [12, 0]), [.text(hello)]),
            WebSocketCase("6.2.3", single(Data(hello.utf8)), [.text(hello)]),
            WebSocketCase("6.2.4", single(Data(greek.utf8)), [.text(greek)]),
            WebSocketCase("6.3.1", pieces(broken, [0]), invalid),
            WebSocketCase("6.3.2", single(broken), invalid),
            WebSocketCase("6.4.1", pieces(early, [12, 4, 0]), invalid),
            WebSocketCase("6.4.2", pieces(early, [13, 1, 0]), invalid),
            WebSocketCase("6.4.3", pieces(early, [0]), invalid, by: 14),
            WebSocketCase("6.4.4", pieces(early, [0]), invalid, by: 1),
        ] + prefixes + table
    }()

    // MARK: 7

    static let closes: [WebSocketCase] = {
        let (hello, code) = (WebSocketFrame.text("Hello World!"), WebSocketFrame.close(1000))
        let open = WebSocketFrame(.text, Data("fragment1".utf8), isFinal: false)
        let end = WebSocketFrame(.continuation, Data("fragment2".utf8))
        let large = String(repeating: "BAsd7&jh23", count: 26 << 10)
        let good = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] as [UInt16]
        let bad = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999] as [UInt16]
        return [
            WebSocketCase("7.1.1", [hello], [.text("Hello World!")]),
            WebSocketCase("7.1.2", [code]),
            WebSocketCase("7.1.3", [code, .ping()]),
            WebSocketCase("7.1.4", [code, hello]),
            WebSocketCase("7.1.5", [open, code, end]),
            WebSocketCase("7.1.6", [.text(large), code, .ping()], [.text(large)]),
            WebSocketCase("7.3.1", [WebSocketFrame(.close)], .closed(1005)),
            WebSocketCase("7.3.2", [WebSocketFrame(.close, Data([0x61]))], violation7),
            WebSocketCase("7.3.3", [code]),
            WebSocketCase("7.3.4", [.close(1000, Data("Hello World!".utf8))]),
            WebSocketCase("7.3.5", [.close(1000, Data(repeating: 0x2A, count: 123))]),
            WebSocketCase("7.3.6", [.close(1000, Data(repeating: 0x2A, count: 124))], violation7),
            WebSocketCase("7.5.1", [.close(1000, Data([0xCE, 0xBA, 0xED, 0xA0, 0x80]))], invalid),
        ] + closes("7.7", good) { .closed($0) } + closes("7.9", bad) { _ in violation7 }
            + closes("7.13", [5000, 65535]) { _ in violation7 }
    }()

    private static func closes(_ group: String, _ codes: [UInt16], _ end: (UInt16) -> End) -> [WebSocketCase] {
        codes.enumerated().map { WebSocketCase("\(group).\($0 + 1)", [.close($1)], end($1)) }
    }

    private static let violation7 = End.failed(1002)

    // MARK: 9 and 10

    static let sizes: [WebSocketCase] = {
        let large = [64, 256, 1024, 4096].enumerated().flatMap { index, kilobytes -> [WebSocketCase] in
            let (text, data) = (String(repeating: "*", count: kilobytes << 10), Data(count: kilobytes << 10))
            return [
                WebSocketCase("9.1.\(index + 1)", [.text(text)], [.text(text)]),
                WebSocketCase("9.2.\(index + 1)", [.binary(data)], [.data(data)]),
            ]
        }
        func fragmented(_ data: Data, _ size: Int, _ opcode: WebSocketFrame.Opcode) -> [WebSocketFrame] {
            stride(from: 0, to: data.count, by: size).map { start in
                WebSocketFrame(
                    start == 0 ? opcode : .continuation,
                    Data(data[start..<min(start + size, data.count)]),
                    isFinal: start + size >= data.count
                )
            }
        }
        let million = Data(repeating: 0x2A, count: 1 << 20)
        let text = WebSocket.Message.text(String(decoding: million, as: UTF8.self))
        let parts = [64, 256, 1024, 4096, 16384, 65536, 262_144, 1_048_576].enumerated().flatMap {
            index,
            size -> [WebSocketCase] in
            [
                WebSocketCase("9.3.\(index + 1)", fragmented(million, size, .text), [text]),
                WebSocketCase("9.4.\(index + 1)", fragmented(million, size, .binary), [.data(million)]),
            ]
        }
        let chops = [64, 128, 256, 512, 1024, 2048].enumerated().flatMap { index, size -> [WebSocketCase] in
            [
                WebSocketCase("9.5.\(index + 1)", fragmented(million, 1 << 20, .text), [text], by: size),
                WebSocketCase("9.6.\(index + 1)", fragmented(million, 1 << 20, .binary), [.data(million)], by: size),
            ]
        }
        let many = [0, 16, 64, 256, 1024, 4096].enumerated().flatMap { index, size -> [WebSocketCase] in
            let (text, data) = (String(repeating: "*", count: size), Data(count: size))
            let texts = Array(repeating: WebSocket.Message.text(text), count: 1000)
            let pieces = Array(repeating: WebSocket.Message.data(data), count: 1000)
            return [
                WebSocketCase("9.7.\(index + 1)", Array(repeating: .text(text), count: 1000), texts),
                WebSocketCase("9.8.\(index + 1)", Array(repeating: .binary(data), count: 1000), pieces),
            ]
        }
        let split = Data(repeating: 0x2A, count: 65536)
        let one = WebSocketCase(
            "10.1.1",
            fragmented(split, 1300, .text),
            [.text(String(decoding: split, as: UTF8.self))]
        )
        return large + parts + chops + many + [one]
    }()
}

extension Data {
    fileprivate init(hex: String) {
        var (bytes, rest) = (Data(), Substring(hex))
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self = bytes
    }
}
