// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The names that are looked up, the questions for them, and what was found; without the looking up.
struct NameTable: Sendable {
    /// What is known of a name.
    enum Answer: Hashable, Sendable {
        /// Addresses that may be used.
        case fresh([String])
        /// Addresses that were good a while ago; they are looked up anew.
        case outdated([String])
        /// Nothing: it is being looked up.
        case nothing
    }

    private struct LookUp {
        var questions: [HostQuestion] = []
        /// Whether what is known already is to be renewed, also if no request waits.
        var isRenewal = false

        var isNeeded: Bool { isRenewal || !questions.isEmpty }

        mutating func add(_ question: HostQuestion?) {
            if let question { questions.append(question) } else { isRenewal = true }
        }
    }

    private struct Entry {
        let addresses: [String]
        let time: UInt64
    }

    /// How long addresses are good, in nanoseconds: as long as libcurl keeps them.
    ///
    /// The system doesn't say how long they are meant to be.
    static let lifetime: UInt64 = 60 * 1_000_000_000
    /// How many names are remembered.
    private static let mostNames = 1_024

    private let mostAwaited: Int
    private let mostWorkers: Int
    private var workers = 0
    private var known: [String: Entry] = [:]
    /// What workers look up.
    private var underWay: [String: LookUp] = [:]
    /// What is to be looked up.
    private var waiting: [String: LookUp] = [:]
    /// The names that are to be looked up, in their order; one that isn't waiting any more is passed over.
    private var line = FIFO<String>()

    /// - Parameters:
    ///   - mostAwaited: How many names are looked up at a time that are waited for.
    ///   - mostWorkers: How many names are looked up at a time.
    init(mostAwaited: Int, mostWorkers: Int) {
        self.mostAwaited = mostAwaited
        self.mostWorkers = mostWorkers
    }

    /// Tells what is known of a name, and has it looked up where that isn't enough.
    ///
    /// - Returns: What is known, and whether one more worker is needed.
    mutating func ask(_ name: String, _ question: HostQuestion?, now: UInt64) -> (Answer, startsWorker: Bool) {
        let entry = known[name]
        if let entry, now &- entry.time < Self.lifetime { return (.fresh(entry.addresses), false) }
        let answer = entry.map { Answer.outdated($0.addresses) } ?? .nothing
        if underWay[name] != nil {
            underWay[name]?.add(question)
            return (answer, false)
        }
        if waiting[name] == nil { line.append(name) }
        waiting[name, default: LookUp()].add(question)
        return (answer, hire())
    }

    /// Takes a question back; says whether one more worker is needed.
    mutating func leave(_ question: HostQuestion) -> Bool {
        let name = question.name
        if underWay[name] != nil {
            underWay[name]?.questions.removeAll { $0 == question }
            return hire()
        }
        waiting[name]?.questions.removeAll { $0 == question }
        if waiting[name]?.isNeeded == false { waiting[name] = nil }
        return false
    }

    /// What a worker looks up next; nil if it isn't needed any more, and gone from here.
    mutating func next() -> String? {
        // Look-ups that were given up may be waited for again by now, and are more than there may be.
        while workers - abandoned <= mostAwaited, let name = line.popFirst() {
            guard let lookUp = waiting.removeValue(forKey: name) else { continue }
            underWay[name] = lookUp
            return name
        }
        workers -= 1
        return nil
    }

    /// Notes what was found; gives the questions that it answers.
    mutating func finish(_ name: String, _ found: HostNames.Found, now: UInt64) -> [HostQuestion] {
        if case .success(let addresses) = found {
            known[name] = Entry(addresses: addresses, time: now)
            if known.count > Self.mostNames { forgetOldest(now: now) }
        }
        return underWay.removeValue(forKey: name)?.questions ?? []
    }

    /// How many look-ups are under way that no request waits for, since they are given up, or renew what is known.
    private var abandoned: Int { underWay.values.count { $0.questions.isEmpty } }

    /// Takes on one more worker where one is needed, and there may be one; says whether it has.
    private mutating func hire() -> Bool {
        let starting = workers - underWay.count
        guard waiting.count > starting, workers < mostWorkers, workers - abandoned < mostAwaited else { return false }
        workers += 1
        return true
    }

    private mutating func forgetOldest(now: UInt64) {
        known = known.filter { now &- $0.value.time < Self.lifetime }
        while known.count > Self.mostNames, let oldest = known.min(by: { $0.value.time < $1.value.time }) {
            known[oldest.key] = nil
        }
    }
}
#endif
