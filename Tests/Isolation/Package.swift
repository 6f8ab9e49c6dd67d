// swift-tools-version: 6.2
import PackageDescription

// What an application writes, in each of the four settings that Xcode offers: the language modes 5 and 6, with and
// without the main actor as the default isolation. A target compiles the same files, by a link to their folder.
func target(_ name: String, _ mode: SwiftLanguageMode, _ isolation: [SwiftSetting] = []) -> Target {
    .target(
        name: name,
        dependencies: [
            .product(name: "Requests", package: "Requests"), .product(name: "RequestsOutbox", package: "Requests"),
            .product(name: "RequestsTesting", package: "Requests"),
            .product(name: "RequestsWebSockets", package: "Requests"),
        ],
        swiftSettings: isolation + [
            .swiftLanguageMode(mode), .treatAllWarnings(as: .error),
            // An expression for which the compiler needs longer, in milliseconds, is an error.
            .unsafeFlags(["-Xfrontend", "-warn-long-expression-type-checking=500"]),
        ]
    )
}

let package = Package(
    name: "Isolation",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Requests", path: "../..")],
    targets: [
        target("Swift5", .v5),
        target("Swift5MainActor", .v5, [.defaultIsolation(MainActor.self)]),
        target("Swift6", .v6),
        target("Swift6MainActor", .v6, [.defaultIsolation(MainActor.self)]),
    ]
)
