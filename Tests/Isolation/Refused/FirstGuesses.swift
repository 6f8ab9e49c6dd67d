// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

// What newcomers write first, where the library has another word for it.
func guesses(client: HTTPClient, transport: InMemoryTransport, stubber: HTTPStubber) async throws {
    _ = HTTPClient(
        baseURL: URL(string: "http://localhost"),
        transport: transport,
        maxConcurrentRequests: 4  // error: argument 'maxConcurrentRequests' must precede argument 'transport'
    )
    let pages: PageSequence<Get<[Int]>>  // error: specialized with too few type parameters (got 1, but expected 2)
    for await progress in client.progressUpdates() {
        _ = progress.completed  // error: `received` and `sent` count bytes, `finished` counts requests
        _ = progress.total  // error: `count` is the number of requests
    }
    let stream = try await client.stream(Get<Data>("feed"))
    for try await chunk in stream.bytes { _ = chunk }  // error: iterate over the stream itself
    _ = try await stubber.awaitRequest(count: 2)  // error: extra argument 'count' in call
}
