// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How many bytes may be written before the directory has to be looked at again.
///
/// Other processes write there too, so that what this one knows about the size grows old: after an eighth of the limit it
/// looks again. The limit is therefore kept exactly by one process, and overstepped by each other one by an eighth at
/// most.
struct DiskBudget: Sendable {
    /// How many bytes there may be.
    let limit: Int
    // Nothing, until the directory was looked at.
    private var left = 0

    /// Starts without knowing what is there.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Whether a file of that size is kept at all: one of more than a quarter of the limit would push out too much.
    func admits(_ bytes: Int) -> Bool { bytes <= limit / 4 }

    /// Takes so many bytes for a file, or says that the directory has to be looked at first.
    mutating func take(_ bytes: Int) -> Bool {
        guard bytes <= left else { return false }
        left -= bytes
        return true
    }

    /// How small the directory has to become, where it is too large for another file of that size.
    func target(for bytes: Int) -> Int { limit - max(limit / 8, bytes) }

    /// Notes what is there, and takes so many bytes for a file.
    mutating func take(_ bytes: Int, besides size: Int) {
        left = max(0, min(limit - size, max(limit / 8, bytes)) - bytes)
    }
}
