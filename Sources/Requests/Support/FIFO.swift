// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A line that is joined at its end and left at its front.
///
/// An array would move all its elements whenever the first one leaves. Here those that have left stay behind until they
/// are the larger part; so each operation takes constant time on average, and the memory of twice those that wait.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    /// Fewer than these aren't worth moving the rest.
    private static var leastGone: Int { 64 }

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }

    /// The one that has waited longest.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Lets one join the line.
    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Lets several join the line, in their order.
    mutating func append(contentsOf others: some Sequence<Element>) {
        elements.append(contentsOf: others.lazy.map { $0 })
    }

    /// Takes out the one that has waited longest; `nil` if the line is empty.
    ///
    /// - Complexity: O(1) on average.
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        // Its place is emptied at once: an object in it may be gone before its place is.
        elements[head] = nil
        head += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head > Self.leastGone, head > count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
