// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Stands in for Apple's module WebKit in Scripts/apple-check: what the recipes use of it, and no more.
// Nothing of it is ever run.

import AppleFoundation

public final class WKNavigation: NSObject {}

@MainActor public final class WKWebView: NSObject {
    @discardableResult public func load(_ request: URLRequest) -> WKNavigation? { nil }
}
