// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A protocol class of one installation's own.
///
/// All that a session hands to a protocol class is a request, in which nothing tells the session: so each configuration
/// that a stubber is installed in has a class of its own. Classes can't be made at run time, but types of generic ones
/// can: the parameter is a number, a type a bit. They stay as long as the process lives.
final class InstalledStubProtocol<Number>: StubProtocol {
    override class var isInstalled: Bool { true }
}

/// The number that is all of its bits.
private enum NoBits {}
private enum Zero<Rest> {}
private enum One<Rest> {}

extension StubProtocol {
    /// The class of a number, of which there is one.
    static func numbered(_ number: Int) -> StubProtocol.Type {
        adding(UInt(bitPattern: number), to: NoBits.self)
    }

    private static func adding<Number>(_ bits: UInt, to _: Number.Type) -> StubProtocol.Type {
        if bits == 0 { return InstalledStubProtocol<Number>.self }
        return bits & 1 == 0 ? adding(bits >> 1, to: Zero<Number>.self) : adding(bits >> 1, to: One<Number>.self)
    }
}
