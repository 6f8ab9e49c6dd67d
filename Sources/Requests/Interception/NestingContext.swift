// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The context of nested work: requests that an interceptor, a condition or a retry strategy sends while a run waits.
///
/// Nested requests don't wait for a slot of their client's queue, because the waiting run occupies one. If all slots
/// were occupied by waiting runs, none would ever become free. This exemption ends with the work, even for tasks that
/// the work started. If an operation is created in a context, its completion handlers also run in that context.
final class NestingContext: Sendable {
    /// The innermost context of the current task.
    @TaskLocal private static var innermost: NestingContext?

    /// The maximum number of nesting levels.
    static let maximumDepth = 8

    /// The sender of the nested requests.
    let author: Author
    private let outer: NestingContext?
    /// The ID of the keeper whose credential is being refreshed, if the work is a refresh.
    private let keeper: ObjectIdentifier?
    private let isOver = Locked(false)
    /// The nesting level, which is the number of runs that wait for requests of this context.
    let depth: Int

    /// The sender of nested requests, if it can be identified.
    struct Author: Sendable, Hashable {
        let type: String
        private let object: ObjectIdentifier?
        private let position: Int?

        /// Creates an author.
        ///
        /// An object is identified by its identity, and a value by its position among the interceptors of its
        /// environment. A scoped interceptor counts as the interceptor that it wraps.
        init(_ author: any Sendable, at position: Int? = nil) {
            var author = author
            while let wrapper = author as? any InterceptorWrapper { author = wrapper.wrapped }
            let type = Swift.type(of: author)
            self.type = String(describing: type)
            self.position = position
            object = type is AnyClass ? ObjectIdentifier(author as AnyObject) : nil
        }

        /// Returns whether both are the same object or, within one environment, the same value.
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

    /// Creates the context of a refresh that several runs wait for; it ends with ``end()``.
    convenience init(refreshBy keeper: some AnyObject & Sendable, within outer: NestingContext?) {
        let depth = (outer?.depth ?? 0) + 1
        self.init(Author(keeper), within: outer, depth: depth, keeper: ObjectIdentifier(keeper))
    }

    /// Whether the work is a refresh, which several runs may wait for.
    var isRefresh: Bool { keeper != nil }

    /// Creates a context with the same author and level, for work that no run waits for.
    func detached() -> NestingContext {
        NestingContext(author, within: nil, depth: depth)
    }

    /// The context of the current task; `nil` if there is none, or if its work has ended.
    static var current: NestingContext? {
        guard let scope = innermost, !scope.isOver.withLock({ $0 }) else { return nil }
        return scope
    }

    /// Runs work in a new context, which is nested in the context of the run that waits for the work.
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

    /// Runs work in this context.
    func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await Self.$innermost.withValue(self, operation: work)
    }

    /// Ends the exemption from the queue's limit.
    func end() {
        isOver.withLock { $0 = true }
    }

    /// Runs work in a context or, with `nil`, outside of all contexts.
    static func run<Value>(in scope: NestingContext?, _ work: () async throws -> Value) async rethrows -> Value {
        try await $innermost.withValue(scope, operation: work)
    }

    /// Whether a run waits for requests of the current task.
    static var isNested: Bool { current != nil }

    /// The IDs of the keepers whose refreshes wait for requests of this context.
    var enclosingRefreshes: Set<ObjectIdentifier> {
        Set(selfAndOuter.compactMap { scope in scope.isOver.withLock { $0 } ? nil : scope.keeper })
    }

    /// This context and its outer contexts, starting from the innermost.
    private var selfAndOuter: some Sequence<NestingContext> { sequence(first: self) { $0.outer } }

    /// Returns a closure that runs in the current context, if there is one.
    static func bindCurrent<Value>(to body: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
        guard let scope = current else { return body }
        return { value in $innermost.withValue(scope) { body(value) } }
    }

    /// Returns whether an interceptor is doing this work, in which case it must not be applied to the nested requests.
    func hasAuthor(_ interceptor: any Interceptor, at position: Int, inOneEnvironment: Bool) -> Bool {
        let other = Author(interceptor, at: position)
        return selfAndOuter.contains { $0.author.isSame(as: other, inOneEnvironment: inOneEnvironment) }
    }

    /// Throws an error if the work is nested too deeply.
    func checkDepth() throws {
        guard depth > Self.maximumDepth else { return }
        let names = selfAndOuter.map(\.author.type).reversed().joined(separator: " → ")
        let reason = "nested requests exceed the limit of \(Self.maximumDepth) levels: \(names)"
        throw RequestError(.nestingLimitReached, phase: .building, reason: reason)
    }
}
