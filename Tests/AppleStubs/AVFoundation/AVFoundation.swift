// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Stands in for Apple's module AVFoundation in Scripts/apple-check: what the recipes use of it, and no more.
// Nothing of it is ever run.

import AppleFoundation

open class AVAsset: NSObject, @unchecked Sendable {}

public final class AVURLAsset: AVAsset, @unchecked Sendable {
    public init(url: URL, options: [String: Any]? = nil) {}
}

@MainActor public final class AVPlayerItem: NSObject {
    public init(asset: AVAsset) {}
}
