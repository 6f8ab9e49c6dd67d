// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The settings of one request that override those of its environment; `nil` keeps the environment's.
///
/// Most requests have none, and a copy of those takes no time.
///
/// - Complexity: To read or to set an option is O(n) in the number of options that are set; to compare is O(n²).
public struct RequestOptions: Sendable {
    // The parts of the library that read the options declare them, in extensions: this type knows none.
    /// The option that was set last, with the others after it; `nil` if none is set.
    private var first: (any AnyEntry)?

    /// Creates options that override nothing.
    public init() {}

    /// Whether no option is set.
    var isEmpty: Bool { first == nil }

    /// The value of an option.
    subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get { entry(option)?.value ?? Option.unset }
        set {
            if let former = entry(option) { remove(former) }
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

    private mutating func remove(_ former: some AnyEntry) {
        let before = entries.prefix { $0 !== former }
        first = before.reversed().reduce(former.next) { $1.copy(before: $0) }
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

/// An option of a request, which the part of the library that reads it declares.
protocol RequestOption: SendableMetatype {
    associatedtype Value: Sendable, Hashable

    /// The value if the option isn't set.
    static var unset: Value { get }

    /// Whether the response depends on the value, so that requests share a transfer only if their values are equal.
    ///
    /// False if ``RequestFingerprint`` has the setting anyway, since the environment or the request may set it as well.
    static var isPartOfFingerprint: Bool { get }

    /// Returns the value for a request that is made of another one, if both have set the option; by default its own.
    ///
    /// - Parameters:
    ///   - value: Its own value.
    ///   - base: The value of the request that it is made of.
    /// - Returns: The value that counts.
    static func combine(_ value: Value, with base: Value) -> Value
}

extension RequestOption {
    static func combine(_ value: Value, with base: Value) -> Value { value }

    /// The name of the option's property, for descriptions.
    fileprivate static var name: String {
        let type = String(describing: Self.self)
        let capitals = type.prefix(while: \.isUppercase).count
        // `HTTPPriority` is `httpPriority`.
        let lowered = max(1, capitals - 1)
        return type.prefix(lowered).lowercased() + type.dropFirst(lowered)
    }
}

/// An option with a list of values that can't be compared: copies of one list are equal.
///
/// The list of a request follows that of the request that it is made of.
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
    /// The values of an option that is a list.
    subscript<Option: RequestListOption>(list option: Option.Type) -> [Option.Element] {
        get { self[option]?.value ?? [] }
        set { self[option] = newValue.isEmpty ? nil : IdentityEquatable(newValue) }
    }
}

/// An option that is set, whichever it is.
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

/// An option that is set, in a list.
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

    /// Returns whether the options have the same value.
    func isSet(in options: RequestOptions) -> Bool { options[Option.self] == value }

    /// Adds the option to those of a request that is made of this one's.
    func add(to options: inout RequestOptions) {
        let own = options[Option.self]
        options[Option.self] = own == Option.unset ? value : Option.combine(own, with: value)
    }
}

extension RequestOptions: Hashable {
    /// Whether both override the same settings by the same values.
    public static func == (one: RequestOptions, other: RequestOptions) -> Bool {
        if one.isEmpty || other.isEmpty { return one.isEmpty && other.isEmpty }
        let entries = one.entries
        return entries.count == other.entries.count && entries.allSatisfy { $0.isSet(in: other) }
    }

    /// Hashes the settings.
    public func hash(into hasher: inout Hasher) {
        // Whatever their order.
        hasher.combine(entries.reduce(0) { $0 ^ $1.hash })
    }
}

extension RequestOptions: CustomReflectable {
    /// A mirror of the options that are set, by their names.
    public var customMirror: Mirror {
        let children = entries.map { (label: $0.name, value: $0.anyValue as Any) }.sorted { $0.label < $1.label }
        return Mirror(self, children: children.map { ($0.label, $0.value) }, displayStyle: .struct)
    }
}

extension RequestOptions {
    /// Returns these options, completed with those of the request that theirs is made of.
    func over(_ base: RequestOptions) -> RequestOptions {
        guard !isEmpty else { return base }
        var options = self
        for entry in base.entries.reversed() { entry.add(to: &options) }
        return options
    }

    /// The options that the response depends on.
    var fingerprintOptions: RequestOptions {
        var options = RequestOptions()
        for entry in entries where entry.isPartOfFingerprint { entry.add(to: &options) }
        return options
    }
}

// MARK: - In a request

extension HTTPRequest {
    /// The options that override the environment, if this request is the operation's own.
    public var options: RequestOptions {
        _read { yield fields.options }
        _modify { yield &fields.options }
    }

    /// Keeps the data of the operation's request, which an interceptor can't change.
    mutating func restoreUserInfo(of request: HTTPRequest) {
        guard !request.fields.options.isEmpty || !fields.options.isEmpty else { return }
        fields.options = request.fields.options
    }

    /// Removes the options from the request.
    mutating func detachOptions() -> RequestOptions {
        guard !fields.options.isEmpty else { return RequestOptions() }
        defer { fields.options = RequestOptions() }
        return fields.options
    }
}
