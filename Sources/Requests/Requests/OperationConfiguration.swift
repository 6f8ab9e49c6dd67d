// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Everything that an operation is made of.
public struct OperationConfiguration<R: NetworkRequest>: Sendable {
    /// Where the request comes from.
    public var source: RequestSource<R>
    /// What carries it.
    public var transport: any HTTPTransport
    /// What it inherits.
    public var environment: RequestEnvironment
    /// Whether it is sent on behalf of a call in the same environment.
    var isOnBehalf = false

    /// Makes a configuration.
    public init(
        source: RequestSource<R>,
        transport: any HTTPTransport,
        environment: RequestEnvironment = RequestEnvironment()
    ) {
        self.source = source
        self.transport = transport
        self.environment = environment
    }
}
