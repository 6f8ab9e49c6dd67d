// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Prints the elements of a paginated list, from any JSON API that links the next page in `Link` (RFC 8288).
struct PagesCommand {
    let url: URL
    let pages: Int

    func run() async throws {
        let client = HTTPClient { $0.retry = .default }
        var number = 0
        for try await page in client.pages(Get<JSONValue>(url), prefetching: true).responses.prefix(pages) {
            number += 1
            let elements = elements(of: page.body)
            let time = page.metrics?.duration.map { ", \(Int($0 / .milliseconds(1))) ms" } ?? ""
            print("Page \(number): \(page.status), \(elements.count) elements\(time)")
            for element in elements { print("  \(summary(of: element))") }
            if number == pages, let next = page.link("next") { print("The next page is \(next.absoluteString)") }
        }
    }

    /// Returns the list in a page: the page itself, or the longest list among its members.
    private func elements(of page: JSONValue) -> [JSONValue] {
        switch page {
        case .array(let elements): return elements
        case .object(let members):
            let lists = members.values.compactMap { member -> [JSONValue]? in
                if case .array(let elements) = member { elements } else { nil }
            }
            return lists.max { $0.count < $1.count } ?? [page]
        default: return [page]
        }
    }

    /// Returns the name of an element as a single line.
    private func summary(of element: JSONValue) -> String {
        var text = "\(element)"
        if case .object(let members) = element {
            let names = ["full_name", "name", "title", "login", "id"].compactMap { members[$0] }
            if case .string(let name)? = names.first { text = name } else if let name = names.first { text = "\(name)" }
        } else if case .string(let string) = element {
            text = string
        }
        // Replace control characters, so that text from the server can't start a new line or control the terminal.
        let plain = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        return String(plain.prefix(100))
    }
}
