// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension TypedRequest: NamedRequestType {
    /// The alias that the type is written by: `Get<User>`, `APIRequest<ExampleAPI, User>`.
    static var typeName: String {
        // The type of no value is `()` by itself.
        let success = Success.self == Void.self ? "Void" : "\(Success.self)"
        return switch Tag.self {
        case is any RequestMethod.Type: "\(Tag.self)<\(success)>"
        case is any RequestProviding.Type: "APIRequest<\(Tag.self), \(success)>"
        default: String(describing: Self.self)
        }
    }
}
