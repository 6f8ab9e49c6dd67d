// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The values from which an operation is created.
public struct OperationConfiguration<R: NetworkRequest>: Sendable {
    /// The source of the request.
    public var source: RequestSource<R>
    /// The transport of the request.
    public var transport: any HTTPTransport
    /// The settings that the request inherits.
    public var environment: RequestEnvironment
    /// How the request is built and the response is handled.
    ///
    /// By default, the response is collected in memory. A subclass may choose another handling in its initializer.
    var kind: any ResponseHandling.Type = MemoryHandling<R>.self

    /// Creates a configuration.
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
