// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox

struct SaveDraft: RequestSpec, Codable {
    var text = ""
    var request: Put<Void> { Put("draft").body(.text(text)) }
}

/// The closures that follow the registration of a type.
///
/// Swift 5 matches trailing closures with parameters from the first one on, Swift 6 from the last one. Each closure
/// names the type of its argument, so it compiles only as what it is.
enum OutboxHandlers {
    struct Refusal: Error {}

    static func register(in settings: inout Outbox.Settings) {
        settings.register(SaveDraft.self, as: "throws") { _ in throw Refusal() }
        settings.register(SaveDraft.self, as: "save-draft") { (sent: Outbox.Delivery<SaveDraft>) in
            if sent.request.text.isEmpty { throw Refusal() }
        }
        settings.register(SaveDraft.self, from: "draft") { (old: JSONValue) in
            ["text": old["content"] ?? ""]
        }
        settings.register(SaveDraft.self, from: "note") { (old: JSONValue) in
            ["text": old["note"] ?? ""]
        } handling: { (sent: Outbox.Delivery<SaveDraft>) in
            if sent.request.text.isEmpty { throw Refusal() }
        }
    }
}
