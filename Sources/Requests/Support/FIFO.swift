// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A first-in, first-out queue.
///
/// An array would move all its elements whenever the first element is removed. The queue keeps the storage of removed
/// elements instead, until it is the larger part of the array. Each operation therefore takes amortized constant time,
/// and the queue uses at most twice the memory.
package struct FIFO<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// The storage is compacted only after more elements than this have been removed.
    @usableFromInline static var compactionThreshold: Int { 64 }

    /// Creates an empty queue.
    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable var count: Int { elements.count - head }

    /// The oldest element, or `nil` if the queue is empty.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Appends an element.
    @inlinable
    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Appends several elements, in their order.
    mutating func append(contentsOf others: some Sequence<Element>) {
        elements.append(contentsOf: others.lazy.map { $0 })
    }

    /// Removes and returns the oldest element, or returns `nil` if the queue is empty.
    ///
    /// - Complexity: O(1) on average.
    @inlinable
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        // Clear the slot immediately, so that its element isn't retained until the storage is compacted.
        elements[head] = nil
        head += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head > Self.compactionThreshold, head > count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
