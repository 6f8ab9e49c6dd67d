// swift-tools-version: 6.2
import PackageDescription

// SE-0335: an existential is spelled `any P`, so that its cost and its limits are visible where it is used.
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "Requests",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Requests", targets: ["Requests"]),
        .library(name: "RequestsTesting", targets: ["RequestsTesting"]),
    ],
    dependencies: [],
    targets: [
        // libcurl, loaded at run time; empty off Linux.
        .target(name: "CCurl"),
        .target(
            name: "Requests",
            dependencies: ["CCurl"],
            // SE-0461: an asynchronous function runs where its caller does. Otherwise each step of a call would change
            // its executor, which takes as long as the step.
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
        .target(name: "RequestsTesting", dependencies: ["Requests"], swiftSettings: settings),
        .executableTarget(
            name: "requests-demo",
            dependencies: ["Requests", "RequestsTesting"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "requests-mock-server",
            dependencies: ["RequestsTesting"],
            swiftSettings: settings
        ),
        // What the tests share, and a process to be ended, or to be short of descriptors. They are in no product.
        .target(
            name: "TestSupport",
            dependencies: ["Requests", "RequestsTesting"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RequestsTests",
            dependencies: ["Requests", "RequestsTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RequestsTestingTests",
            dependencies: ["RequestsTesting", "TestSupport", "requests-mock-server"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "TransportProbe",
            dependencies: ["Requests", "RequestsTesting"],
            path: "Tests/TransportProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["Requests", "RequestsTesting", "TestSupport", "TransportProbe"],
            swiftSettings: settings
        ),
        // Without the settings: the snippets of the documentation must compile as a newcomer would type them.
        .testTarget(name: "DocumentationTests", dependencies: ["Requests", "RequestsTesting", "TestSupport"]),
        .testTarget(name: "ArchitectureTests", exclude: ["PublicAPI"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
