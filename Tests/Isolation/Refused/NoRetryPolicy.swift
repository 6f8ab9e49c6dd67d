// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

// No policy has the name `none`, which an optional one would take for `nil`: the error says how to write no retry.
func requests(client: HTTPClient, request: Get<Int>) {
    _ = request.retry(.none)  // error: 'none' has been renamed to 'never'
    client.configure { $0.retry = .none }  // error: 'none' has been renamed to 'never'

    _ = request.retry(.never)
    client.configure { $0.retry = .never }
}
