// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Work on behalf of a run: the requests that an interceptor, a condition or a retry strategy sends while the run
/// waits.
///
/// Requests that are added meanwhile don't wait for a place within their client's limit, since the waiting one holds
/// one: with all places taken, none would become free. This privilege ends with the work, also for tasks that were made
/// in it. Completion handlers of operations that are made in the scope run in it as well.
final class NestingContext: Sendable {
    /// The scope that the current task runs in.
    @TaskLocal private static var innermost: NestingContext?

    /// The maximum nesting of such work.
    static let maximumDepth = 8

    /// The author of the requests.
    let author: Author
    private let outer: NestingContext?
    /// The keeper of the credential, if the work is its refresh.
    private let keeper: ObjectIdentifier?
    private let isOver = Locked(false)
    /// The number of runs that wait for the requests of this scope.
    let depth: Int

    /// The sender of requests on behalf of a run, as far as it can be identified.
    struct Author: Sendable, Hashable {
        let type: String
        private let object: ObjectIdentifier?
        private let position: Int?

        /// Makes a description of an author; its position among the interceptors of its environment identifies values.
        ///
        /// For an interceptor that is limited to some requests, it is the wrapped one, which also identifies itself.
        init(_ author: any Sendable, at position: Int? = nil) {
            var author = author
            while let wrapper = author as? any InterceptorWrapper { author = wrapper.wrapped }
            let type = Swift.type(of: author)
            self.type = String(describing: type)
            self.position = position
            object = type is AnyClass ? ObjectIdentifier(author as AnyObject) : nil
        }

        /// Whether both are one object, or, in one environment, one value.
        func isSame(as other: Author, inOneEnvironment: Bool) -> Bool {
            if object != nil || other.object != nil { return object == other.object }
            return inOneEnvironment && position != nil && position == other.position && type == other.type
        }
    }

    private init(_ author: Author, within outer: NestingContext?, depth: Int, keeper: ObjectIdentifier? = nil) {
        self.author = author
        self.outer = outer
        self.depth = depth
        self.keeper = keeper
    }

    private convenience init(_ author: Author, within outer: NestingContext?) {
        self.init(author, within: outer, depth: (outer?.depth ?? 0) + 1)
    }

    /// Makes the scope of a refresh, which several runs wait for; it ends with ``end()``.
    convenience init(refreshBy keeper: some AnyObject & Sendable, within outer: NestingContext?) {
        let depth = (outer?.depth ?? 0) + 1
        self.init(Author(keeper), within: outer, depth: depth, keeper: ObjectIdentifier(keeper))
    }

    /// Whether the work is a refresh, which several runs wait for.
    var isRefresh: Bool { keeper != nil }

    /// Makes a scope for work of the same author that no run waits for, with the same depth.
    func detached() -> NestingContext {
        NestingContext(author, within: nil, depth: depth)
    }

    /// The scope of the current task, unless the work that it serves is done.
    static var current: NestingContext? {
        guard let scope = innermost, !scope.isOver.withLock({ $0 }) else { return nil }
        return scope
    }

    /// Does work on behalf of a run that was made in a scope.
    static func run<Value>(
        _ author: any Sendable,
        at position: Int? = nil,
        within outer: NestingContext?,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let scope = NestingContext(Author(author, at: position), within: outer)
        defer { scope.end() }
        return try await scope.run(work)
    }

    /// Does the work of the scope.
    func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await Self.$innermost.withValue(self, operation: work)
    }

    /// Ends the privilege of the work.
    func end() {
        isOver.withLock { $0 = true }
    }

    /// Does work in a scope, or outside of all scopes.
    static func run<Value>(in scope: NestingContext?, _ work: () async throws -> Value) async rethrows -> Value {
        try await $innermost.withValue(scope, operation: work)
    }

    /// Whether a run waits for the requests of the current task.
    static var isNested: Bool { current != nil }

    /// The keepers of credentials whose refreshes wait for the requests of this scope.
    var refreshes: Set<ObjectIdentifier> {
        Set(nested.compactMap { scope in scope.isOver.withLock { $0 } ? nil : scope.keeper })
    }

    /// This scope and those around it, outwards.
    private var nested: some Sequence<NestingContext> { sequence(first: self) { $0.outer } }

    /// Returns a closure that is called as a part of the present scope's work, if there is one.
    static func carried<Value>(by body: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
        guard let scope = current else { return body }
        return { value in $innermost.withValue(scope) { body(value) } }
    }

    /// Whether the work is done on behalf of an interceptor, which then isn't applied to it.
    func serves(_ interceptor: any Interceptor, at position: Int, inOneEnvironment: Bool) -> Bool {
        let other = Author(interceptor, at: position)
        return nested.contains { $0.author.isSame(as: other, inOneEnvironment: inOneEnvironment) }
    }

    /// Refuses work that is nested too deeply.
    func checkDepth() throws {
        guard depth > Self.maximumDepth else { return }
        let names = nested.map(\.author.type).reversed().joined(separator: " → ")
        let reason = "requests on behalf of requests, more than \(Self.maximumDepth) deep: \(names)"
        throw RequestError(.nestingLimitReached, phase: .building, reason: reason)
    }
}
