// swift-tools-version: 6.2
import PackageDescription

// SE-0335: an existential is spelled `any P`, so that its cost and its limits are visible where it is used.
var settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

// CI alone makes a warning an error: who has a copy of this package in a folder may have a newer compiler.
if Context.environment["REQUESTS_STRICT"] != nil { settings.append(.treatAllWarnings(as: .error)) }

// A test that fails names its line without debug information, which would be two fifths of the time of the build.
// Only targets that are in no product have the flag: SwiftPM refuses it in those of a dependency.
let undebugged: [SwiftSetting] =
    Context.environment["REQUESTS_DEBUG"] == nil ? [.unsafeFlags(["-Xfrontend", "-gnone"])] : []

// SE-0461: an asynchronous function runs where its caller does. Otherwise each step of a call would change its
// executor, which takes as long as the step. A target of the library that lacks this setting compiles, and is slower.
let callerIsolation: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "Requests",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Requests", targets: ["Requests"]),
        .library(name: "RequestsWebSockets", targets: ["RequestsWebSockets"]),
        .library(name: "RequestsOutbox", targets: ["RequestsOutbox"]),
        .library(name: "RequestsTesting", targets: ["RequestsTesting"]),
        .library(name: "RequestsConformance", targets: ["RequestsConformance"]),
    ],
    dependencies: [],
    targets: [
        // libcurl, loaded at run time; empty off Linux.
        .target(name: "CRequestsCurl"),
        .target(
            name: "Requests",
            dependencies: ["CRequestsCurl"],
            swiftSettings: settings + callerIsolation
        ),
        // Features that the core doesn't use: a program that imports neither compiles and links neither.
        .target(name: "RequestsWebSockets", dependencies: ["Requests"], swiftSettings: settings + callerIsolation),
        .target(name: "RequestsOutbox", dependencies: ["Requests"], swiftSettings: settings + callerIsolation),
        .target(
            name: "RequestsTesting",
            dependencies: ["Requests", "RequestsWebSockets"],
            swiftSettings: settings
        ),
        .target(
            name: "RequestsConformance",
            dependencies: ["Requests", "RequestsTesting", "RequestsWebSockets"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "requests-demo",
            dependencies: ["Requests", "RequestsOutbox", "RequestsTesting", "RequestsWebSockets"],
            swiftSettings: settings
        ),
        // What the tests share, and a process to be ended, or to be short of descriptors. They are in no product.
        .target(
            name: "RequestsTestSupport",
            dependencies: ["Requests", "RequestsTesting"],
            path: "Tests/RequestsTestSupport",
            swiftSettings: settings
        ),
        // Counts allocations and locks, for the tests and the benchmarks.
        .target(name: "CCounting", path: "Tests/CCounting"),
        // Reads the symbols of the sources, for ArchitectureTests.
        .target(name: "CIndexStore", path: "Tests/CIndexStore"),
        // What a user can see, through the public API alone: it holds for any implementation.
        .testTarget(
            name: "BehaviourTests",
            dependencies: [
                "CCounting", "Requests", "RequestsOutbox", "RequestsTesting", "RequestsTestSupport",
                "RequestsWebSockets",
            ],
            exclude: ["Outbox/Journals"],
            swiftSettings: settings + undebugged
        ),
        // The parts, from inside.
        .testTarget(
            name: "RequestsTests",
            dependencies: ["Requests", "RequestsOutbox", "RequestsTesting", "RequestsTestSupport"],
            swiftSettings: settings + undebugged
        ),
        .testTarget(
            name: "RequestsTestingTests",
            dependencies: ["RequestsConformance", "RequestsTesting", "RequestsTestSupport", "RequestsWebSockets"],
            swiftSettings: settings + undebugged
        ),
        .executableTarget(
            name: "RequestsTransportProbe",
            dependencies: ["Requests", "RequestsOutbox", "RequestsTesting"],
            path: "Tests/RequestsTransportProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Requests", "RequestsConformance", "RequestsOutbox", "RequestsTesting", "RequestsTestSupport",
                "RequestsTransportProbe", "RequestsWebSockets", "requests-demo",
            ],
            exclude: ["Interop/Servers"],
            swiftSettings: settings + undebugged
        ),
        // Without the settings: the snippets of the documentation must compile as a newcomer would type them.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Requests", "RequestsConformance", "RequestsOutbox", "RequestsTesting", "RequestsTestSupport",
                "RequestsWebSockets",
            ],
            swiftSettings: undebugged
        ),
        .testTarget(
            name: "ArchitectureTests",
            dependencies: ["CIndexStore", "RequestsTestSupport"],
            exclude: ["PublicAPI"],
            swiftSettings: settings + undebugged
        ),
    ],
    swiftLanguageModes: [.v6]
)
