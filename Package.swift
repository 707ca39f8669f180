// swift-tools-version: 6.0
import PackageDescription

let swift: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault")]

let package = Package(
  name: "ohana",
  products: [
    .executable(name: "ohana", targets: ["OhanaCLI"]),
    .library(name: "Ohana", targets: ["Ohana"]),
  ],
  targets: [
    // One target per C library: a module map, a header, a few inline wrappers.
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CFileStatus"),
    // Byte-class masks of a block, and thin shims with a C header each.
    .target(name: "CStructural"),
    .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
    // libphonenumber is linked into the binary: found at run time, it would cost every run the start of the libraries it needs.
    .target(
      name: "CPhoneNumber",
      linkerSettings: ([":libphonenumber.a", ":libprotobuf-lite.a"]
        + [
          "raw_hash_set", "hashtablez_sampler", "hash", "city", "low_level_hash", "strings", "strings_internal", "int128", "throw_delegate",
          "raw_logging_internal", "base", "spinlock_wait",
        ].map { ":libabsl_\($0).a" } + ["icui18n", "icuuc", "stdc++"]).map { .linkedLibrary($0) }),
    .target(name: "CRegex", linkerSettings: [.linkedLibrary("re2")]),

    .target(name: "OhanaCore", dependencies: ["CXXHash", "CICU", "CRegex", "CCrypto", "CPhoneNumber"], swiftSettings: swift),
    .target(
      name: "OhanaFormats",
      dependencies: ["CFileStatus", "OhanaCore", "CZlib", "CISAL", "CDeflate", "CICU", "CStructural", "CSimdJSON"],
      swiftSettings: swift),
    .target(name: "OhanaStages", dependencies: ["OhanaCore", "CMalloc", "CXXHash", "CICU"], swiftSettings: swift),
    .target(name: "OhanaEngine", dependencies: ["OhanaCore"], swiftSettings: swift),
    .target(
      name: "OhanaRun", dependencies: ["OhanaCore", "OhanaFormats", "OhanaStages", "OhanaEngine", "CICU"],
      swiftSettings: swift),
    .target(name: "Ohana", dependencies: ["OhanaCore", "OhanaFormats", "OhanaStages", "OhanaEngine", "OhanaRun"], swiftSettings: swift),
    .executableTarget(name: "OhanaCLI", dependencies: ["Ohana", "CMalloc"], swiftSettings: swift),

    // One test target per source target, and a support target.
    .target(name: "OhanaTestSupport", dependencies: ["OhanaCore"], path: "Tests/OhanaTestSupport", swiftSettings: swift),
    .testTarget(
      name: "OhanaCoreTests", dependencies: ["OhanaCore", "OhanaTestSupport"], exclude: ["Oracle"], swiftSettings: swift),
    .testTarget(
      name: "OhanaFormatsTests", dependencies: ["OhanaFormats", "OhanaCore", "OhanaTestSupport", "CZlib"], swiftSettings: swift),
    .testTarget(name: "OhanaStagesTests", dependencies: ["OhanaStages", "OhanaCore", "OhanaTestSupport"], swiftSettings: swift),
    .testTarget(name: "OhanaEngineTests", dependencies: ["OhanaEngine", "OhanaCore", "OhanaTestSupport"], swiftSettings: swift),
    .testTarget(
      name: "OhanaRunTests", dependencies: ["OhanaRun", "OhanaCore", "OhanaTestSupport"], exclude: ["Golden"], swiftSettings: swift),
    .testTarget(name: "OhanaTests", dependencies: ["Ohana", "OhanaTestSupport"], swiftSettings: swift),
    .testTarget(
      name: "OhanaCLITests", dependencies: ["Ohana", "OhanaTestSupport", "OhanaCLI"], exclude: ["Lineage/rows.tsv"], swiftSettings: swift),
  ],
  cxxLanguageStandard: .cxx17
)
