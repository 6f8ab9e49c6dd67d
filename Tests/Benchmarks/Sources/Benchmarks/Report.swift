// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Runs measurements in separate processes, and prints their medians beside the limits.
struct Report {
    let rounds: Int
    let filter: String?

    func print() throws {
        try section("time", "100,000 requests in memory, one queue") {
            try cost("against bare operations", "storm-requests-100000", "storm-bare-100000", of: 100_000, atMost: 3)
            try cost(
                "the same, each with a completion",
                "storm-requests-completion-100000",
                "storm-bare-completion-100000",
                of: 100_000,
                atMost: 3
            )
            try growth("100,000 against 10,000", "storm-requests-100000", "storm-requests-10000", atMost: 12)
        }
        try section("memory", "of requests that wait or run") {
            try memory("against bare operations", "memory-requests", "memory-bare", atMost: 1126)
            try memory("100,000 at once over a socket, 64 of them running", "memory-crowd", atMost: 300)
            try memory("100,000 at once over a socket, all of them running", "memory-crowd-started", atMost: 300)
        }
        try section("graphs", "dependencies") {
            try growth(
                "a chain on a queue of width 1: 100,000 against 10,000",
                "chain-serial-requests-100000",
                "chain-serial-requests-10000",
                atMost: 12
            )
            for shape in ["chain", "fan-out", "fan-in"] {
                try cost(
                    "\(shape) of 8,000, concurrent, against bare",
                    "\(shape)-requests-8000",
                    "\(shape)-bare-8000",
                    of: 8_000,
                    atMost: 1.2
                )
            }
        }
        try section("session", "JSON answers over a socket: an injected session against the bare session") {
            for width in [1, 8, 64] {
                let bare = "session-bare-\(width)"
                try rate("width \(width): the transport, and decoded", "session-decoded-\(width)", bare, atLeast: 0.95)
                try rate("width \(width): through an OperationQueue", "session-requests-\(width)", bare)
            }
        }
        try section(
            "default",
            "JSON answers over a socket: the default transport, layer by layer, against the bare session"
        ) {
            for (width, budget) in [(1, 2.0), (8, 8.0), (64, 8.0)] {
                let bare = "session-bare-\(width)"
                try rate("width \(width): the transport alone", "default-transport-\(width)", bare)
                try rate("width \(width): and decoded", "default-decoded-\(width)", bare, atLeast: budget)
                try rate("width \(width): through an OperationQueue", "default-requests-\(width)", bare)
            }
        }
        try section("rivals", "JSON answers over a socket, decoded: against AsyncHTTPClient, and the limit") {
            for (width, rival, limit) in [(1, 1.1, nil), (8, 1.3, 0.4), (64, 1.3, 0.5)] as [(Int, Double, Double?)] {
                let (ours, theirs) = ("default-decoded-\(width)", "async-http-client-\(width)")
                try rate("width \(width): AsyncHTTPClient", ours, theirs, atLeast: rival)
                try rate("width \(width): a C loop over libcurl, no decoding", ours, "c-loop-\(width)", atLeast: limit)
                // The cost of an operation, with its queue, dependencies and completion.
                let queued = "default-requests-\(width)"
                try rate("width \(width): AsyncHTTPClient, through an OperationQueue", queued, theirs)
                try rate("width \(width): a C loop, through an OperationQueue", queued, "c-loop-\(width)")
            }
        }
        try section("engine", "JSON answers over a socket, awaited and decoded: what it costs to be an operation") {
            for width in [1, 8, 64] { try engine(width) }
        }
        try section(
            "recipe",
            "JSON answers over a socket, through an OperationQueue: the transport over AsyncHTTPClient"
        ) {
            for width in [1, 8, 64] {
                let recipe = "recipe-requests-\(width)"
                try rate("width \(width): against bare AsyncHTTPClient", recipe, "async-http-client-\(width)")
                try rate("width \(width): against the default transport", recipe, "default-requests-\(width)")
            }
        }
    }

    func printVocabulary() throws {
        try section("vocabulary", "what a request says: time and allocations of each, against Foundation alone") {
            let rows = [
                ("a template, expanded", "template-expand"), ("headers, three looked up", "headers-look-up"),
                ("headers, ten built", "headers-build"), ("a query of ten, printed", "query-print"),
                ("a query of ten, read", "query-read"), ("a form of ten", "form-items"),
                ("a multipart form of ten fields", "multipart-fields"), ("a URLRequest of a request", "request"),
            ]
            for (title, name) in rows { try operation(title, "\(name)-ours", "\(name)-foundation", atMost: 3) }
            try operation("a URLRequest of a typed request", "request-typed-ours", "request-foundation", atMost: 3)
            try operation("a multipart form of a megabyte", "multipart-megabyte-ours", "multipart-megabyte-foundation")
            // Not the same work: Foundation writes JSON here.
            for (title, name) in [
                ("a query of an Encodable, against JSON", "query-encodable"),
                ("a query of a dictionary, against JSON", "query-dictionary"),
                ("a form of an Encodable, against JSON", "form-encodable"),
            ] { try operation(title, "\(name)-ours", "\(name)-foundation") }
            try operation("a template, parsed, against expanded", "template-parse-ours", "template-expand-ours")
        }
        try section("growth", "ten thousand pieces of a request, and operations in a line, against a thousand") {
            for name in [
                "headers", "headers-merge", "query", "query-encodable", "query-dictionary", "form", "template",
                "template-variables", "multipart", "media-type", "request",
            ] { try growth(name, "\(name)-10000", "\(name)-1000", atMost: 20) }
            for name in ["blocks", "priorities", "dependencies", "groups"] {
                try growth("line of \(name)", "line-\(name)-10000", "line-\(name)-1000", atMost: 20)
            }
            try operation("line over a running queue, against bare operations", "line-running-1000", "line-bare-1000")
            try growth("lines of many categories", "line-categories-100", "line-categories-10", atMost: 20)
        }
    }

    func printClient() throws {
        try section("client", "requests in memory, through a client") {
            let bare = "client-queue-10000"
            try operation("the default environment, against a queue", "client-default-10000", bare, atMost: 1.5)
            try operation("without cookies, against a queue", "client-without-cookies-10000", bare, atMost: 1.5)
            try operation(
                "100 equal ones shared, an answer after 10 ms: against one",
                "shared-late-100",
                "shared-late-1",
                atMost: 1.5
            )
            // Without that wait, only 100 operations are left, which shows what sharing saves or costs.
            try operation("the same at once: against 100 alone", "shared-100", "alone-100", atMost: 1)
            try operation("the same at once: against bare operations", "shared-100", "bare-100", atMost: 3)
            for length in [1, 5, 10] {
                try operation(
                    "\(length) interceptors and validators, against none",
                    "chain-\(length)-1000",
                    "chain-0-1000"
                )
            }
        }
    }

    func printCounts() throws {
        try section("counts", "the cost of one fetch in memory, on a queue of width 1: exactly as recorded") {
            for fetch in CountedFetch.allCases { try count(fetch) }
        }
    }

    func printOutbox() throws {
        try section("outbox", "writes that survive the process") {
            try rate("adds, one after the other: against no disk", "outbox-add", "outbox-add-memory")
            try rate("adds, 16 at a time: against one", "outbox-add-16", "outbox-add")
            try time("opening one with 10,000 entries", "outbox-open-10000", atMost: 1)
            let bytes = try run("outbox-open-10000").bytes
            Swift.print("  bytes of an entry with 90 bytes of text: \(bytes)")
        }
    }

    func printTransfers() throws {
        try section("transfers", "a gibibyte over the loopback, against the curl command") {
            for (title, name) in [("down to a file", "download"), ("up from a file, in a form", "upload")] {
                try throughput(title, "\(name)-ours", "\(name)-curl", atLeast: 0.8, holdingAtMost: 32)
            }
        }
    }

    func printMultitude() throws {
        #if os(Linux)
        try section("multitude", "\(Measurement.mostHanging) transfers that hang, over the default transport") {
            try rate("others beside them, width 8", "multitude-others", "multitude-none", atLeast: 0.75)
            try time("calling all of them off", "multitude-cancel", atMost: 0.1)
        }
        #endif
    }

    func printMultiplexed() throws {
        try section("multiplexed", "JSON answers over one connection of HTTP/2, with TLS; what curl does isn't decoded")
        {
            for width in [8, 64] {
                let ours = "multiplexed-transport-\(width)"
                try rate("width \(width): AsyncHTTPClient", ours, "multiplexed-async-http-client-\(width)")
                try rate("width \(width): curl --parallel, its processor time aside", ours, "multiplexed-curl-\(width)")
            }
        }
    }

    private func section(_ name: String, _ title: String, _ rows: () throws -> Void) rethrows {
        guard filter == nil || filter == name else { return }
        Swift.print("\n\(name): \(title)")
        try rows()
    }

    // MARK: Rows

    /// Prints the cost of one of many, for both sides.
    private func cost(_ title: String, _ ours: String, _ theirs: String, of count: Int, atMost budget: Double) throws {
        let (a, b) = try alternately(ours, theirs)
        let x = median(a.map(\.seconds))
        let y = median(b.map(\.seconds))
        let each = { String(format: "%.2f µs", $0 / Double(count) * 1e6) }
        row(title, each(x), each(y), String(format: "%.2f× of at most %g×", x / y, budget), isGood: x / y <= budget)
    }

    /// Prints the ratio of the time of many to the time of few.
    private func growth(_ title: String, _ many: String, _ few: String, atMost budget: Double) throws {
        let (a, b) = try alternately(many, few)
        let x = median(a.map(\.secondsEach))
        let y = median(b.map(\.secondsEach))
        let total = { String(format: "%.3f ms", $0 * 1e3) }
        row(title, total(x), total(y), String(format: "%.1f× of at most %g×", x / y, budget), isGood: x / y <= budget)
    }

    /// Prints the cost of one of many, for both sides, with the allocations if they were counted.
    private func operation(_ title: String, _ ours: String, _ theirs: String, atMost budget: Double? = nil) throws {
        let (a, b) = try alternately(ours, theirs)
        let x = median(a.map(\.secondsEach))
        let y = median(b.map(\.secondsEach))
        let each = { (seconds: Double, runs: [Usage]) in
            let allocations = median(runs.map(\.allocationsEach))
            return String(format: "%.0f ns", seconds * 1e9)
                + (allocations < 0 ? "" : String(format: ", %.0f allocations", allocations))
        }
        row(
            title,
            each(x, a),
            each(y, b),
            String(format: "%.2f×", x / y) + (budget.map { String(format: " of at most %g×", $0) } ?? ""),
            isGood: x / y <= budget ?? .infinity
        )
    }

    private func memory(_ title: String, _ ours: String, _ theirs: String, atMost budget: Int) throws {
        let (a, b) = try alternately(ours, theirs)
        let x = Int(median(a.map { Double($0.bytes) }))
        let y = Int(median(b.map { Double($0.bytes) }))
        row(title, "\(x) B", "\(y) B", "\(x - y) B more of at most \(budget) B", isGood: x - y <= budget)
    }

    /// Prints the peak memory of a process, in megabytes.
    private func memory(_ title: String, _ name: String, atMost budget: Int) throws {
        let megabytes = Int(median(try (0..<rounds).map { _ in Double(try run(name).bytes) })) / 1_000_000
        row(title, "\(megabytes) MB", "at most \(budget) MB", "", isGood: megabytes <= budget)
    }

    private func rate(_ title: String, _ ours: String, _ theirs: String, atLeast budget: Double? = nil) throws {
        let (a, b) = try alternately(ours, theirs)
        let x = 1 / median(a.map(\.secondsEach))
        let y = 1 / median(b.map(\.secondsEach))
        let cpu = { (runs: [Usage]) in Int((self.median(runs.map(\.cpuSecondsEach)) * 1e6).rounded()) }
        row(
            title,
            "\(Int(x))/s at \(cpu(a)) µs CPU",
            "\(Int(y))/s at \(cpu(b)) µs CPU",
            String(format: "%.2f×", x / y) + (budget.map { String(format: " of at least %g×", $0) } ?? ""),
            isGood: x / y >= budget ?? 0
        )
    }

    /// Prints the allocations and locks of a fetch. They don't vary, so a single run is enough.
    private func count(_ fetch: CountedFetch) throws {
        let usage = try run("count-\(fetch)")
        let cost = CountedFetch.Cost(allocations: usage.allocations, locks: usage.locks)
        let isGood = !CountedFetch.isComparable || cost == fetch.recorded
        let recorded = CountedFetch.isComparable ? "\(fetch.recorded)" : "nothing"
        row(fetch.rawValue, "\(cost)", recorded, "", isGood: isGood)
    }

    /// Prints the duration of a whole measurement.
    private func time(_ title: String, _ name: String, atMost budget: Double) throws {
        let seconds = median(try (0..<rounds).map { _ in try run(name).seconds })
        let milliseconds = { String(format: "%.0f ms", $0 * 1e3) }
        row(title, milliseconds(seconds), "at most \(milliseconds(budget))", "", isGood: seconds <= budget)
    }

    /// Prints the throughput of large content, and its memory.
    private func throughput(
        _ title: String,
        _ ours: String,
        _ theirs: String,
        atLeast budget: Double,
        holdingAtMost mebibytes: Double
    ) throws {
        let (a, b) = try alternately(ours, theirs)
        let x = median(a.map(\.seconds))
        let y = median(b.map(\.seconds))
        let held = median(a.map { Double($0.bytes) }) / 1_048_576
        row(
            title,
            String(format: "%.0f MiB/s, %.1f MiB held of at most %g", 1024 / x, held, mebibytes),
            String(format: "%.0f MiB/s", 1024 / y),
            String(format: "%.2f× of at least %g×", y / x, budget),
            isGood: y / x >= budget && held <= mebibytes
        )
    }

    /// Prints the cost of a fetch over the transport alone, and its speed beside a rival.
    private func engine(_ width: Int) throws {
        let names =
            ["transport", "queue", "client", "get"].map { "engine-\($0)-\(width)" } + ["async-http-client-\(width)"]
        var runs: [String: [Usage]] = [:]
        for _ in 0..<rounds {
            for name in names { runs[name, default: []].append(try run(name)) }
        }
        func figure(_ name: Int, _ value: (Usage) -> Double) -> Double {
            median(runs[names[name], default: []].map(value))
        }
        let titles = ["the transport alone", "queue.fetch", "HTTPClient.fetch", "… of a Get", "AsyncHTTPClient"]
        for (index, title) in titles.enumerated() {
            let figures = String(
                format: "%6.0f/s, %5.1f µs CPU, %5.1f allocations, %5.1f locks",
                1 / figure(index) { $0.secondsEach },
                figure(index) { $0.cpuSecondsEach } * 1e6,
                figure(index) { $0.allocationsEach },
                figure(index) { $0.locksEach }
            )
            Swift.print("  width \(width): \(title.padding(toLength: 20, withPad: " ", startingAt: 0)) \(figures)")
        }
        func over(_ title: String, _ unit: String, atMost budget: Double, _ value: (Usage) -> Double) {
            let cost = figure(1, value) - figure(0, value)
            let isGood = width != 8 || cost <= budget
            let verdict = String(format: "%.1f", cost) + (width == 8 ? " of at most \(budget)" : "")
            Swift.print("  width \(width): \(title) of the engine: \(verdict)\(unit)\(isGood ? "" : "   MISSED")")
        }
        over("processor time", " µs", atMost: 30) { $0.cpuSecondsEach * 1e6 }
        over("allocations", "", atMost: 28) { $0.allocationsEach }
        over("locks", "", atMost: 21) { $0.locksEach }
        for (title, first, second, budget) in [
            ("HTTPClient.fetch against queue.fetch", 2, 1, 0.95),
            ("HTTPClient.fetch of a Get against queue.fetch", 3, 1, 0.95),
            ("queue.fetch against AsyncHTTPClient", 1, 4, width == 1 ? 1.1 : 1.35),
        ] {
            let ratio = figure(second) { $0.secondsEach } / figure(first) { $0.secondsEach }
            let verdict = String(format: "%.2f× of at least %g×", ratio, budget)
            Swift.print("  width \(width): \(title): \(verdict)\(ratio >= budget ? "" : "   MISSED")")
        }
        let cost = figure(3) { $0.cpuSecondsEach } / figure(1) { $0.cpuSecondsEach }
        let verdict = String(format: "%.2f of at most 1.05", cost)
        Swift.print(
            "  width \(width): processor time of a Get against queue.fetch: \(verdict)\(cost <= 1.05 ? "" : "   MISSED")"
        )
        fflush(nil)
    }

    private func row(_ title: String, _ ours: String, _ theirs: String, _ verdict: String, isGood: Bool) {
        let title = title.padding(toLength: 56, withPad: " ", startingAt: 0)
        Swift.print("  \(title) \(ours)  against  \(theirs)   \(verdict)\(isGood ? "" : "   MISSED")")
        fflush(nil)
    }

    // MARK: Runs

    private func alternately(_ first: String, _ second: String) throws -> ([Usage], [Usage]) {
        var runs: ([Usage], [Usage]) = ([], [])
        for _ in 0..<rounds {
            runs.0.append(try run(first))
            runs.1.append(try run(second))
        }
        return runs
    }

    /// Runs a measurement.
    ///
    /// - Parameters:
    ///   - name: The name of the measurement.
    ///   - authorities: The name of a folder of ``PathCertificate`` that stands for the system's certificates.
    func run(_ name: String, withAuthorities authorities: String? = nil) throws -> Usage {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--measure", name]
        if let authorities {
            let folder = try PathCertificate.folder.appending(path: authorities).path
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments =
                ["unshare", "--mount", "sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\"", folder]
                + [CommandLine.arguments[0], "--measure", name]
        }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Usage.self, from: data)
    }

    func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted[sorted.count / 2]
    }
}
