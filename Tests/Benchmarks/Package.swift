// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the rivals in the benchmarks never become dependencies of the library.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Requests", path: "../.."),
        .package(path: "../Interop"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
    ],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CCounting",
                "CLoop",
                .product(name: "Requests", package: "Requests"),
                .product(name: "RequestsOutbox", package: "Requests"),
                .product(name: "RequestsTesting", package: "Requests"),
                .product(name: "RequestsWebSockets", package: "Requests"),
                .product(name: "AsyncHTTPClientTransport", package: "Interop"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ]
        ),
        // Counts allocations, and the locks that the program takes.
        .target(name: "CCounting"),
        // libcurl's multi interface without a wrapper, as the lower bound.
        .target(name: "CLoop"),
    ],
    swiftLanguageModes: [.v6]
)
