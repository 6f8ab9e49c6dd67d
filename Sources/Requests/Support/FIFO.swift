// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A first-in, first-out queue.
///
/// An array would move all its elements whenever the first one is removed. Here, the places of removed elements stay
/// until they are the larger part; so each operation takes constant time on average, and at most twice the memory.
package struct FIFO<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// The number of removed elements below which the others aren't moved.
    @usableFromInline static var leastGone: Int { 64 }

    /// Creates an empty queue.
    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable var count: Int { elements.count - head }

    /// The oldest element.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element at the end.
    @inlinable
    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Adds several elements at the end, in their order.
    mutating func append(contentsOf others: some Sequence<Element>) {
        elements.append(contentsOf: others.lazy.map { $0 })
    }

    /// Removes and returns the oldest element; `nil` if the queue is empty.
    ///
    /// - Complexity: O(1) on average.
    @inlinable
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        // The place is emptied at once, so that an object in it is released before the place is.
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
