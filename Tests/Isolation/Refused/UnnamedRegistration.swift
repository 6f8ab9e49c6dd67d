// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox

struct SaveNote: RequestSpec, Codable {
    var request: Put<Void> { Put("notes/1") }
}

// The name in the code isn't unique, and changes when the type is renamed.
func register(in settings: inout Outbox.Settings) {
    settings.register(SaveNote.self)  // error: use register(_:as:) with a name that never changes
    settings.register(SaveNote.self) { _ in }  // error: use register(_:as:) with a name that never changes

    settings.register(SaveNote.self, as: "save-note")
    settings.register(SaveNote.self, as: "save-notes") { _ in }
    settings.register(SaveNote.self, from: "old-note") { $0 }
}
