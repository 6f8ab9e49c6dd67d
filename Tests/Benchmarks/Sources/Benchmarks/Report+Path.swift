// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// https by name, as Scripts/bench path prepares it. Each line is one contender, compared with AsyncHTTPClient.
extension Report {
    func printPath() throws {
        for (title, version) in [("HTTP/1.1", "http1"), ("HTTP/2", "http2")] {
            for width in [1, 8, 64] {
                Swift.print("\n\(title), width \(width), connections open; curl decodes nothing")
                try compare(["system", "pins", "rival", "curl"].map { "path-\(version)-\(width)-\($0)" })
            }
        }
        Swift.print("\nHTTP/1.1, started cold: 64 connections at once, 50 requests each")
        try compare(["system", "pins", "rival", "curl"].map { "path-cold-\($0)" })
        Swift.print("\nthe same, with each one's own number of connections")
        try compare(["system", "rival"].map { "path-cold-default-\($0)" })
        try printConnections()
    }

    private func compare(_ names: [String]) throws {
        let titles = [
            "system": "queue.fetch", "pins": "queue.fetch, a pinned host", "rival": "AsyncHTTPClient",
            "curl": "curl --parallel",
        ]
        var runs: [String: [Usage]] = [:]
        for _ in 0..<rounds {
            for name in names { runs[name, default: []].append(try run(name)) }
        }
        let rates = runs.mapValues { 1 / median($0.map(\.secondsEach)) }
        let costs = runs.mapValues { median($0.map(\.cpuSecondsEach)) }
        let rival = names.first { $0.hasSuffix("rival") } ?? ""
        for name in names {
            let title = titles[String(name.drop { $0 != "-" }.split(separator: "-").last ?? "")] ?? name
            let figures = String(
                format: "%7.0f/s, %6.1f µs CPU   rate %.2f×, CPU %.2f×",
                rates[name] ?? 0,
                (costs[name] ?? 0) * 1e6,
                (rates[name] ?? 0) / (rates[rival] ?? 1),
                (costs[name] ?? 0) / (costs[rival] ?? 1)
            )
            Swift.print("  \(title.padding(toLength: 28, withPad: " ", startingAt: 0)) \(figures)")
            fflush(nil)
        }
    }

    /// Prints what a new connection costs with each set of authorities, beside one of Python's `ssl` with one context.
    private func printConnections() throws {
        let rows: [(title: String, name: String, authorities: String?)] = [
            ("a bundle and a folder", "system", nil), ("only a bundle", "system", "only-bundle"),
            ("only a folder", "system", "only-folder"), ("with an added authority", "adding", nil),
            ("with pins", "pins", nil), ("AsyncHTTPClient", "rival", nil), ("Python", "python", nil),
        ]
        Swift.print("\nnew connections: CPU of one; longest wait of another transfer while 64 are made at once")
        var runs: [[Usage]] = rows.map { _ in [] }
        for _ in 0..<rounds {
            for (index, row) in rows.enumerated() {
                runs[index].append(try run("path-connection-\(row.name)", withAuthorities: row.authorities))
            }
        }
        let python = median(runs[rows.count - 1].map(\.cpuSecondsEach))
        for (row, runs) in zip(rows, runs) {
            let cost = median(runs.map(\.cpuSecondsEach))
            let wait = median(runs.map(\.longestWait))
            let figures = String(
                format: "%6.2f ms CPU, %5.1f× Python; %5.1f ms (%.1f ms without new connections)",
                cost * 1e3,
                cost / python,
                wait * 1e3,
                median(runs.map(\.longestQuietWait)) * 1e3
            )
            let isGood = cost <= 3 * python && wait <= 0.05
            let title = row.title.padding(toLength: 28, withPad: " ", startingAt: 0)
            Swift.print("  \(title) \(figures)\(isGood ? "" : "   MISSED")")
        }
    }
}
