// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Everything that an operation is made of.
public struct OperationConfiguration<R: NetworkRequest>: Sendable {
    /// The source of the request.
    public var source: RequestSource<R>
    /// The transport of the request.
    public var transport: any HTTPTransport
    /// The settings that it inherits.
    public var environment: RequestEnvironment
    /// How the request is built and the response is handled: in memory, unless a subclass sets another one in its
    /// initializer.
    var kind: any ResponseHandling.Type = MemoryHandling<R>.self

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
