// swift-tools-version: 6.0
import PackageDescription

// A post-processor written outside the package: `swift run --package-path Examples/AreaCode area-code +1415 contacts.ndjson`.
let package = Package(
  name: "area-code",
  products: [.library(name: "AreaCode", targets: ["AreaCode"])],
  dependencies: [.package(name: "ohana", path: "../..")],
  targets: [
    .target(name: "AreaCode", dependencies: [.product(name: "Ohana", package: "ohana")], swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(name: "area-code", dependencies: ["AreaCode"], swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
