// swift-tools-version: 6.0
import PackageDescription

// A package of its own, so that users of the library never resolve it.
let package = Package(
  name: "ohana-benchmarks",
  dependencies: [.package(name: "ohana", path: ".."), .package(name: "area-code", path: "../Examples/AreaCode")],
  targets: [
    // Depends on the tool, so that building the benchmark builds what it measures, next to itself.
    .executableTarget(
      name: "ohana-bench", dependencies: [.product(name: "ohana", package: "ohana")], swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "ohana-library-bench",
      dependencies: [.product(name: "Ohana", package: "ohana"), .product(name: "AreaCode", package: "area-code")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
