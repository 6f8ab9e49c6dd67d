// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A binary min-heap.
package struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element]

    /// Creates a heap with elements; empty by default.
    ///
    /// - Complexity: O(n log n)
    @inlinable package init(_ elements: [Element] = []) {
        // A sorted array is a heap.
        self.elements = elements.sorted()
    }

    var count: Int { elements.count }

    /// The smallest element, or `nil` if the heap is empty.
    ///
    /// Reads by index, because `elements.first` would allocate on each call from a module that can't specialize it.
    @inlinable package var first: Element? { elements.isEmpty ? nil : elements[0] }

    /// Inserts an element.
    ///
    /// - Complexity: O(log n), or O(1) if no element of the heap is larger.
    @inlinable
    package mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the smallest element, or returns `nil` if the heap is empty.
    ///
    /// - Complexity: O(log n)
    @discardableResult
    @inlinable
    package mutating func popFirst() -> Element? {
        guard let first else { return nil }
        elements.swapAt(0, elements.count - 1)
        elements.removeLast()
        var parent = 0
        while true {
            var best = parent
            for child in 2 * parent + 1...2 * parent + 2
            where child < elements.count && elements[child] < elements[best] {
                best = child
            }
            guard best != parent else { return first }
            elements.swapAt(parent, best)
            parent = best
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
