// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct RequestOptionsTests {
    private struct Ping: DataRequest, ModifiableRequest {
        typealias Success = Data
        typealias Failure = RequestError
        var identifier: String { "ping" }
        var options = RequestOptions()

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: home)))
        }
        func processData(_ data: Data) -> Data { data }
    }

    private struct Spec: RequestSpec, ModifiableRequest {
        var options = RequestOptions()
        var request: Get<String> { Get("a").tag("inner").retry(limit: 7) }
    }

    private func everything<R: ModifiableRequest>(_ request: R) -> R {
        request.withEveryModifier()
    }

    /// Returns the options that are set: comparable values as text, and others by their type.
    private func properties(_ options: RequestOptions) -> [String: String] {
        let children = Mirror(reflecting: options).children
        return Dictionary(uniqueKeysWithValues: children.map { ($0.label ?? "", "\($0.value)") })
    }

    /// This includes an option that is added later: it has to be among the modifiers.
    @Test func optionsPropagateToDerivedRequests() throws {
        let all = properties(everything(Ping()).options)

        let list = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../ArchitectureTests/PublicAPI/Requests.txt")
        let declared = try String(contentsOf: list, encoding: .utf8).matches(
            of: /RequestOptions\.(\w+) \| var .* \{ get set \}/
        )
        #expect(declared.count > 20)
        for option in declared {
            #expect(all[String(option.1)] != nil, "\(option.1) isn't among the modifiers of this test")
        }
        #expect(properties(RequestOptions().over(everything(Ping()).options)) == all)
        #expect(properties(everything(Ping()).options.over(RequestOptions())) == all)
        #expect(properties(everything(Spec()).resolvedOptions) == all)
    }
}
