// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CredentialMachineTests {
    /// The inputs of the machine; waiters are called by their number.
    enum Input: Sendable {
        case wish(Int, after: Int, at: Int = 0)
        case refreshed(Int, String)
        case failed(Int)
        case set(String?)
        case withdraw(Int)
    }

    typealias Machine = CredentialMachine<String, Int>

    private static func apply(_ input: Input, to machine: inout Machine) -> String {
        switch input {
        case .wish(let waiter, let generation, let time):
            describe(machine.requestCredential(waiter, id: waiter, after: generation, now: .seconds(time)))
        case .refreshed(let generation, let credential):
            describe(machine.completeRefresh(generation, with: .success(credential), now: .zero))
        case .failed(let generation):
            describe(machine.completeRefresh(generation, with: .failure(SampleError()), now: .zero))
        case .set(let credential):
            describeChange(machine.set(credential))
        case .withdraw(let id):
            machine.removeWaiter(id).map { "released \($0)" } ?? "no waiter"
        }
    }

    private static func describe(_ answer: Machine.Decision) -> String {
        switch answer {
        case .grant(let grant): describe(.success(grant))
        case .refuse(let refusal): describe(.failure(refusal))
        case .wait: "wait"
        case .refresh(let credential, let generation): "refresh \(credential ?? "none") of \(generation)"
        }
    }

    private static func describe(_ ending: Machine.CompletionAction?) -> String {
        switch ending {
        case nil: "nothing"
        case .resume(let release): describe(release)
        case .refresh(let credential, let generation, for: let waiter):
            "refresh \(credential ?? "none") of \(generation) for \(waiter)"
        }
    }

    private static func describe(_ release: Machine.Resumption) -> String {
        "\(release.waiters): \(describe(release.result))"
    }

    private static func describeChange(_ release: Machine.Resumption) -> String {
        release.waiters.isEmpty ? "nothing" : describe(release)
    }

    private static func describe(_ result: Result<Machine.Grant, CredentialRefusal>) -> String {
        switch result {
        case .success(let grant): "\(grant.isFresh ? "fresh " : "")\(grant.credential) of \(grant.generation)"
        case .failure(.failed): "failed"
        case .failure(.excessive): "excessive"
        case .failure(.loggedOut): "logged out"
        case .failure(.circular): "circular"
        case .failure(.cancelled): "cancelled"
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let state: String
        let input: Input
        let outcome: String
        init(_ state: String, _ input: Input, _ outcome: String) {
            (self.state, self.input, self.outcome) = (state, input, outcome)
        }
        var testDescription: String { "\(state): \(input)" }
    }

    /// The inputs that lead to each state, from a machine that has the credential “a”, of generation 0.
    static let states: [String: [Input]] = [
        "idle": [],
        "replaced": [.wish(1, after: 0), .refreshed(0, "b")],
        "failed": [.wish(1, after: 0), .failed(0)],
        "refreshing": [.wish(1, after: 0)],
        "deserted": [.wish(1, after: 0), .withdraw(1)],
        "logged out": [.set(nil)],
        "logging in": [.set(nil), .wish(1, after: 1)],
        "set meanwhile": [.wish(1, after: 0), .set("c")],
        "set and rejected": [.wish(1, after: 0), .set("c"), .wish(2, after: 1)],
    ]

    static let rows: [Row] = [
        Row("idle", .wish(2, after: 0), "refresh a of 0"),
        Row("idle", .refreshed(0, "x"), "nothing"),
        Row("idle", .failed(0), "nothing"),
        Row("idle", .set("c"), "nothing"),
        Row("idle", .set(nil), "nothing"),
        Row("idle", .withdraw(1), "no waiter"),

        Row("replaced", .wish(2, after: 0), "b of 1"),
        Row("replaced", .wish(2, after: 1), "refresh b of 1"),
        Row("replaced", .refreshed(0, "x"), "nothing"),
        Row("replaced", .failed(1), "nothing"),
        Row("replaced", .withdraw(1), "no waiter"),

        Row("failed", .wish(2, after: 0), "failed"),
        Row("failed", .wish(2, after: 1), "refresh a of 1"),
        Row("failed", .refreshed(0, "x"), "nothing"),
        Row("failed", .withdraw(1), "no waiter"),

        Row("refreshing", .wish(2, after: 0), "wait"),
        Row("refreshing", .refreshed(0, "b"), "[1]: fresh b of 1"),
        Row("refreshing", .refreshed(1, "b"), "nothing"),
        Row("refreshing", .failed(0), "[1]: failed"),
        Row("refreshing", .failed(1), "nothing"),
        Row("refreshing", .set("c"), "[1]: fresh c of 1"),
        Row("refreshing", .set(nil), "[1]: logged out"),
        Row("refreshing", .withdraw(1), "released 1"),
        Row("refreshing", .withdraw(2), "no waiter"),

        Row("deserted", .wish(2, after: 0), "wait"),
        Row("deserted", .refreshed(0, "b"), "[]: fresh b of 1"),
        Row("deserted", .failed(0), "[]: failed"),
        Row("deserted", .withdraw(1), "no waiter"),

        Row("logged out", .wish(2, after: 0), "logged out"),
        Row("logged out", .wish(2, after: 1), "refresh none of 1"),
        Row("logged out", .refreshed(0, "x"), "nothing"),
        Row("logged out", .set("c"), "nothing"),

        Row("logging in", .wish(2, after: 0), "logged out"),
        Row("logging in", .wish(2, after: 1), "wait"),
        Row("logging in", .refreshed(1, "b"), "[1]: fresh b of 2"),
        Row("logging in", .failed(1), "[1]: failed"),

        Row("set meanwhile", .refreshed(0, "b"), "nothing"),
        Row("set meanwhile", .failed(0), "nothing"),
        Row("set meanwhile", .wish(2, after: 0), "c of 1"),
        Row("set meanwhile", .wish(2, after: 1), "wait"),
        Row("set meanwhile", .set("d"), "nothing"),
        Row("set meanwhile", .withdraw(1), "no waiter"),

        Row("set and rejected", .wish(3, after: 0), "wait"),
        Row("set and rejected", .wish(3, after: 1), "wait"),
        Row("set and rejected", .refreshed(0, "b"), "refresh c of 1 for 2"),
        Row("set and rejected", .failed(0), "refresh c of 1 for 2"),
        Row("set and rejected", .refreshed(1, "b"), "nothing"),
        Row("set and rejected", .failed(1), "nothing"),
        Row("set and rejected", .set("d"), "[2]: fresh d of 2"),
        Row("set and rejected", .set(nil), "[2]: logged out"),
        Row("set and rejected", .withdraw(2), "released 2"),
    ]

    @Test(arguments: rows) func transitionsMatchTable(_ row: Row) throws {
        var machine = Machine("a", window: nil)
        for input in try #require(Self.states[row.state]) { _ = Self.apply(input, to: &machine) }

        #expect(Self.apply(row.input, to: &machine) == row.outcome)
    }

    @Test func nextRefreshWaitsForObsoleteRefresh() {
        var machine = Machine("a", window: nil)

        let outcomes = [
            .wish(1, after: 0), .set(nil), .wish(2, after: 1), .refreshed(0, "late"), .wish(3, after: 1),
            .refreshed(1, "b"),
        ].map { (input: Input) in Self.apply(input, to: &machine) }

        #expect(
            outcomes == [
                "refresh a of 0", "[1]: logged out", "wait", "refresh none of 1 for 2", "wait",
                "[2, 3]: fresh b of 2",
            ]
        )
        #expect(machine.credential == "b")
    }

    @Test func deferredRefreshCountsTowardsWindow() {
        var machine = Machine("a", window: RefreshClient.Window(limit: 1, duration: .seconds(30)))

        let outcomes = [
            .wish(1, after: 0), .set("b"), .wish(2, after: 1), .refreshed(0, "late"), .wish(3, after: 1),
            .failed(1), .wish(4, after: 2),
        ].map { (input: Input) in Self.apply(input, to: &machine) }

        #expect(
            outcomes == [
                "refresh a of 0", "[1]: fresh b of 1", "wait", "refresh b of 1 for 2", "wait", "[2, 3]: failed",
                "excessive",
            ]
        )
    }

    @Test func onlyRefreshesInWindowAreCounted() {
        var machine = Machine("a", window: RefreshClient.Window(limit: 2, duration: .seconds(30)))

        let outcomes = [
            .wish(1, after: 0, at: 0), .failed(0), .wish(2, after: 1, at: 10), .refreshed(1, "b"),
            .wish(3, after: 2, at: 29), .wish(4, after: 2, at: 30), .refreshed(2, "c"), .wish(5, after: 3, at: 39),
            .set("d"), .wish(6, after: 4, at: 39),
        ].map { (input: Input) in Self.apply(input, to: &machine) }

        #expect(
            outcomes == [
                "refresh a of 0", "[1]: failed", "refresh a of 1", "[2]: fresh b of 2", "excessive", "refresh b of 2",
                "[4]: fresh c of 3", "excessive", "nothing", "refresh d of 4",
            ]
        )
    }

    @Test(arguments: [(0, 1), (-3, 1), (5, 5)]) func windowLimitIsAtLeastOne(
        limit: Int,
        effective: Int
    ) {
        #expect(RefreshClient.Window(limit: limit, duration: .seconds(1)).limit == effective)
    }
}

@Suite(.bounded) struct CredentialMachineFuzzTests {
    @Test func waitersResumeOnceWithSingleRefresh() {
        var fuzz = Fuzz()
        var machine = CredentialMachine<Int, Int>(0, window: RefreshClient.Window(limit: 3, duration: .seconds(5)))
        var waiting: Set<Int> = []
        /// The generation whose refresh is under way, and whether a request may still wait for it.
        var refreshing: (generation: Int, isWanted: Bool)?
        var flaws: [String] = []

        func release(_ release: CredentialMachine<Int, Int>.Resumption, at step: Int) {
            if Set(release.waiters) != waiting || release.waiters.count != waiting.count { flaws.append("\(step)") }
            waiting = []
        }

        for step in 0..<Scale.fuzz() {
            switch Int.random(in: 0..<10, using: &fuzz) {
            case 0...4:
                let generation = max(0, machine.generation - Int.random(in: 0..<3, using: &fuzz))
                switch machine.requestCredential(step, id: step, after: generation, now: .seconds(step / 3)) {
                case .grant(let grant):
                    if grant.generation <= generation { flaws.append("\(step): old") }
                case .refuse:
                    break
                case .wait:
                    if refreshing == nil { flaws.append("\(step): for nothing") }
                    waiting.insert(step)
                case .refresh(_, let generation):
                    if refreshing != nil { flaws.append("\(step): twice") }
                    refreshing = (generation, true)
                    waiting.insert(step)
                }
            case 5, 6:
                let former = refreshing
                let generation = Bool.random(using: &fuzz) ? former?.generation ?? 0 : machine.generation - 1
                if generation == former?.generation { refreshing = nil }
                let ending = machine.completeRefresh(
                    generation,
                    with: Bool.random(using: &fuzz) ? .success(step) : .failure(SampleError()),
                    now: .seconds(step / 3)
                )
                switch ending {
                case nil:
                    if refreshing == nil, !waiting.isEmpty { flaws.append("\(step): end") }
                case .resume(let ended):
                    if former == nil || refreshing != nil { flaws.append("\(step): end") }
                    release(ended, at: step)
                case .refresh(_, let generation, for: let waiter):
                    if former?.isWanted != false || refreshing != nil || !waiting.contains(waiter) {
                        flaws.append("\(step): next")
                    }
                    refreshing = (generation, true)
                }
            case 7:
                release(machine.set(Bool.random(using: &fuzz) ? step : nil), at: step)
                if !waiting.isEmpty { flaws.append("\(step): set") }
                refreshing?.isWanted = false
            default:
                let id = waiting.randomElement(using: &fuzz) ?? step
                if machine.removeWaiter(id) != waiting.remove(id) { flaws.append("\(step): withdraw") }
            }
            let isRefreshing = refreshing.map { $0.isWanted || !waiting.isEmpty } ?? false
            if machine.isRefreshing != isRefreshing { flaws.append("\(step): phase") }
        }

        #expect(flaws.isEmpty, "seed \(Fuzz.seed): \(flaws.prefix(5))")
    }
}
