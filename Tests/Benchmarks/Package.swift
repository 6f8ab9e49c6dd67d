// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that what it measures against never becomes a dependency of the library.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Requests", path: "../..")],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "Requests", package: "Requests"),
                .product(name: "RequestsTesting", package: "Requests"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
