// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The settings of one request that override its environment; `nil` uses the environment's setting.
///
/// Most requests set no options, and copying an empty value is free.
///
/// - Complexity: Getting or setting an option is O(n) in the number of options that are set. Comparing options is
///   O(n²).
public struct RequestOptions: Sendable {
    // Options are declared in extensions, by the parts of the library that use them, so this type knows none of them.
    /// The head of a linked list with the options that are set, most recent first; `nil` if none is set.
    private var first: (any AnyEntry)?

    /// Creates options that override nothing.
    public init() {}

    var isEmpty: Bool { first == nil }

    /// Accesses the value of an option.
    subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get { entry(option)?.value ?? Option.unset }
        set {
            if let previous = entry(option) { remove(previous) }
            if newValue != Option.unset { first = Entry<Option>(newValue, before: first) }
        }
    }

    private func entry<Option: RequestOption>(_: Option.Type) -> Entry<Option>? {
        var next = first
        while let entry = next {
            if let found = entry as? Entry<Option> { return found }
            next = entry.next
        }
        return nil
    }

    private mutating func remove(_ removed: some AnyEntry) {
        let before = entries.prefix { $0 !== removed }
        first = before.reversed().reduce(removed.next) { $1.copy(before: $0) }
    }

    private var entries: [any AnyEntry] {
        Array(
            sequence(state: first) { next in
                defer { next = next?.next }
                return next
            }
        )
    }
}

/// An option of a request, declared by the part of the library that uses it.
protocol RequestOption: SendableMetatype {
    associatedtype Value: Sendable, Hashable

    /// The value of an option that isn't set.
    static var unset: Value { get }

    /// Whether the response depends on the value. If so, requests share a transfer only if their values are equal.
    ///
    /// False if ``RequestFingerprint`` includes the setting anyway, because the environment or the request can also set
    /// it.
    static var isPartOfFingerprint: Bool { get }

    /// Combines the values of a request and of the request that it is based on, if both have set the option.
    ///
    /// The default implementation returns `value`.
    ///
    /// - Parameters:
    ///   - value: The request's own value.
    ///   - base: The value of the request that it is based on.
    /// - Returns: The value to use.
    static func combine(_ value: Value, with base: Value) -> Value
}

extension RequestOption {
    static func combine(_ value: Value, with base: Value) -> Value { value }

    /// The name of the option's property, for descriptions.
    fileprivate static var name: String {
        let type = String(describing: Self.self)
        let capitals = type.prefix(while: \.isUppercase).count
        // For example, the property of `HTTPPriority` is `httpPriority`.
        let lowered = max(1, capitals - 1)
        return type.prefix(lowered).lowercased() + type.dropFirst(lowered)
    }
}

/// An option whose value is a list of elements that can't be compared, so only copies of the same list are equal.
///
/// If a request is based on another request, its list is appended to that request's list.
protocol RequestListOption: RequestOption where Value == IdentityEquatable<[Element]>? {
    associatedtype Element: Sendable
}

extension RequestListOption {
    static var unset: Value { nil }

    static func combine(_ value: Value, with base: Value) -> Value {
        IdentityEquatable((base?.value ?? []) + (value?.value ?? []))
    }
}

extension RequestOptions {
    /// Accesses the elements of a list option.
    subscript<Option: RequestListOption>(list option: Option.Type) -> [Option.Element] {
        get { self[option]?.value ?? [] }
        set { self[option] = newValue.isEmpty ? nil : IdentityEquatable(newValue) }
    }
}

/// A type-erased option that is set.
private protocol AnyEntry: AnyObject, Sendable {
    var next: (any AnyEntry)? { get }
    var isPartOfFingerprint: Bool { get }
    var hash: Int { get }
    var name: String { get }
    var anyValue: any Sendable { get }
    func copy(before next: (any AnyEntry)?) -> any AnyEntry
    func isSet(in options: RequestOptions) -> Bool
    func add(to options: inout RequestOptions)
}

/// An option that is set, as a node of the linked list.
private final class Entry<Option: RequestOption>: AnyEntry {
    let value: Option.Value
    let next: (any AnyEntry)?

    init(_ value: Option.Value, before next: (any AnyEntry)?) {
        (self.value, self.next) = (value, next)
    }

    var isPartOfFingerprint: Bool { Option.isPartOfFingerprint }
    var name: String { Option.name }
    var anyValue: any Sendable { value }

    var hash: Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(Option.self))
        hasher.combine(value)
        return hasher.finalize()
    }

    func copy(before next: (any AnyEntry)?) -> any AnyEntry { Entry(value, before: next) }

    /// Returns whether `options` have the same value for this option.
    func isSet(in options: RequestOptions) -> Bool { options[Option.self] == value }

    /// Adds this option to the options of another request, which is based on the request that has this option.
    func add(to options: inout RequestOptions) {
        let own = options[Option.self]
        options[Option.self] = own == Option.unset ? value : Option.combine(own, with: value)
    }
}

extension RequestOptions: Hashable {
    /// Returns whether both override the same settings with the same values.
    public static func == (one: RequestOptions, other: RequestOptions) -> Bool {
        if one.isEmpty || other.isEmpty { return one.isEmpty && other.isEmpty }
        let entries = one.entries
        return entries.count == other.entries.count && entries.allSatisfy { $0.isSet(in: other) }
    }

    /// Hashes the options, regardless of their order.
    public func hash(into hasher: inout Hasher) {
        // XOR makes the hash independent of the order.
        hasher.combine(entries.reduce(0) { $0 ^ $1.hash })
    }
}

extension RequestOptions: CustomReflectable {
    /// A mirror of the options that are set, by name.
    public var customMirror: Mirror {
        let children = entries.map { (label: $0.name, value: $0.anyValue as Any) }.sorted { $0.label < $1.label }
        return Mirror(self, children: children.map { ($0.label, $0.value) }, displayStyle: .struct)
    }
}

extension RequestOptions {
    /// Returns these options, combined with the options of the request that this request is based on.
    func over(_ base: RequestOptions) -> RequestOptions {
        guard !isEmpty else { return base }
        var options = self
        for entry in base.entries.reversed() { entry.add(to: &options) }
        return options
    }

    /// The options that are part of a request's fingerprint, because the response depends on them.
    var fingerprintOptions: RequestOptions {
        var options = RequestOptions()
        for entry in entries where entry.isPartOfFingerprint { entry.add(to: &options) }
        return options
    }
}

// MARK: - HTTPRequest

extension HTTPRequest {
    /// The options that override the environment.
    ///
    /// In the request that an interceptor receives, only the user info is set, because the other options belong to the
    /// operation.
    public var options: RequestOptions {
        _read { yield fields.options }
        _modify { yield &fields.options }
    }

    /// Restores the user info of the operation's request, which an interceptor can't change.
    mutating func restoreUserInfo(of request: HTTPRequest) {
        guard !request.fields.options.isEmpty || !fields.options.isEmpty else { return }
        fields.options = request.fields.options
    }

    /// Removes the options from the request and returns them.
    mutating func detachOptions() -> RequestOptions {
        guard !fields.options.isEmpty else { return RequestOptions() }
        defer { fields.options = RequestOptions() }
        return fields.options
    }
}
