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

    /// Returns all stored properties of options: comparable values as text, and for others whether they are set.
    private func properties(_ options: RequestOptions) -> [String: String] {
        var all: [String: String] = [:]
        for (label, value) in Mirror(reflecting: options).children {
            let children = Mirror(reflecting: value).children
            guard label == "policies" else {
                all[label ?? ""] = "\(value)"
                continue
            }
            for (label, value) in children {
                all[label ?? ""] = Mirror(reflecting: value).children.isEmpty ? "nil" : "there"
            }
        }
        return all
    }

    /// This includes an option that is added later: it has to be among the modifiers above, and in `over`.
    @Test func everyOptionReachesARequestThatIsMadeOfAnother() {
        let (none, all) = (properties(RequestOptions()), properties(everything(Ping()).options))

        for (name, value) in all { #expect(value != none[name], "\(name) isn't among the modifiers of this test") }
        #expect(properties(RequestOptions().over(everything(Ping()).options)) == all)
        #expect(properties(everything(Ping()).options.over(RequestOptions())) == all)
        #expect(properties(everything(Spec()).resolvedOptions) == all)
    }
}
