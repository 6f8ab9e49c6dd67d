// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A binary heap, whose first element is the smallest.
package struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element]

    /// Creates a heap from its elements.
    ///
    /// - Complexity: O(n log n)
    @inlinable package init(_ elements: [Element] = []) {
        // A sorted array is a heap.
        self.elements = elements.sorted()
    }

    var count: Int { elements.count }

    /// The smallest element; `nil` if the heap is empty.
    ///
    /// Not by `elements.first`: in a module that can't specialize it, each call would allocate.
    @inlinable package var first: Element? { elements.isEmpty ? nil : elements[0] }

    /// Adds an element.
    ///
    /// - Complexity: O(log n); O(1) for an element that isn't smaller than the others.
    @inlinable
    package mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the smallest element; `nil` if the heap is empty.
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
