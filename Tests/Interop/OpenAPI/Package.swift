// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The runtime of generated clients: a version of it, or the checkout in a folder that the variable names.
let runtime: Package.Dependency =
    if let folder = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_OPENAPI"] {
        .package(name: "swift-openapi-runtime", path: folder)
    } else {
        .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.8.0")
    }

// A separate package, so that the packages that are tested with the library never become its dependencies.
let package = Package(
    name: "OpenAPI",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "OpenAPITransport", targets: ["OpenAPITransport"])
    ],
    dependencies: [
        .package(name: "Requests", path: "../../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
        runtime,
    ],
    targets: [
        .target(
            name: "OpenAPITransport",
            dependencies: [
                .product(name: "Requests", package: "Requests"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ]
        ),
        .testTarget(
            name: "OpenAPITransportTests",
            dependencies: [
                "OpenAPITransport",
                .product(name: "RequestsTesting", package: "Requests"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
