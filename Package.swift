// swift-tools-version: 6.3

import PackageDescription

// A warning is an error in CI, which sets TCPPROBE_WERROR=1; the flag applies to these targets, not to the
// dependencies.
let warningsAreErrors = Context.environment["TCPPROBE_WERROR"] == "1"

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

let cSettings: [CSetting] = warningsAreErrors ? [.treatAllWarnings(as: .error)] : []

let package = Package(
    name: "tcpprobe",
    products: [
        .executable(name: "tcpprobe", targets: ["TCPProbeCommand"]),
        .library(name: "TCPProbe", targets: ["TCPProbe"]),
        .executable(name: "tcpprobe-subjects", targets: ["tcpprobe-subjects"]),
        .executable(name: "tcpprobe-crowd", targets: ["tcpprobe-crowd"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Only subjects under test use these packages; `tcpprobe` itself uses none of them.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.36.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        // Only the workers of crowds use this package. The workers are a separate program because the package depends
        // on Foundation.
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .executableTarget(
            name: "TCPProbeCommand",
            dependencies: [
                "ProbeDiagnose", "ProbeInspect", "ProbeDesk", "ProbeEditor", "ProbeExplore", "ProbeReport",
                "ProbeEngine",
                "ProbeScenario", "ProbeEvents",
                "ProbeCapture", "ProbeTransport", "ProbeProxy", "ProbeSystem", "ProbeWire", "ProbeBase",
                "ProbeOrigin",
                "CShims",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tcpprobe-subjects",
            dependencies: [
                "ProbeTransport", "ProbeTransportNIO", "ProbeTransportFlyingSocks", "ProbeSystem", "ProbeOrigin",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tcpprobe-crowd",
            dependencies: [
                "ProbeCrowd", "ProbeLink", "ProbeScenario", "ProbeRegex", "ProbeTransport", "ProbeTLS", "ProbeSystem",
                "ProbeBase",
                "ProbeOrigin",
                "CShims",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ProbeTransportNIO",
            dependencies: [
                "ProbeTransport", "ProbeBase",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ProbeTransportFlyingSocks",
            dependencies: ["ProbeTransport", "ProbeBase", .product(name: "FlyingSocks", package: "FlyingFox")],
            swiftSettings: settings
        ),
        .target(
            name: "TCPProbe",
            dependencies: [
                "ProbeReport", "ProbeEngine", "ProbeScenario", "ProbeEvents", "ProbeCapture", "ProbeTransport",
                "ProbeSystem", "ProbeBase",
            ],
            swiftSettings: settings
        ),
        .target(name: "ProbeDiagnose", dependencies: ["ProbeWire", "ProbeBase"], swiftSettings: settings),
        .target(
            name: "ProbeInspect",
            dependencies: [
                "ProbeDiagnose",
                "ProbeReport", "ProbeEvents", "ProbeScenario", "ProbeSystem", "ProbeWire", "ProbeBase", "CZlib",
                "CZstd",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ProbeDesk",
            dependencies: [
                "ProbeExplore", "ProbeInspect", "ProbeReport", "ProbeEngine", "ProbeEvents", "ProbeScenario",
                "ProbeWire", "ProbeSystem", "ProbeBase", "CEditline", "CShims",
            ],
            swiftSettings: settings
        ),
        .target(name: "ProbeEditor", dependencies: ["ProbeScenario", "ProbeBase"], swiftSettings: settings),
        .target(
            name: "ProbeExplore",
            dependencies: ["ProbeEngine", "ProbeEvents", "ProbeScenario", "ProbeRegex", "ProbeSystem", "ProbeBase"],
            swiftSettings: settings),
        .target(
            name: "ProbeReport",
            dependencies: ["ProbeEvents", "ProbeScenario", "ProbeSystem", "ProbeBase"],
            swiftSettings: settings),
        .target(
            name: "ProbeEngine",
            dependencies: [
                "ProbeScenario", "ProbeRegex", "ProbeEvents", "ProbeTransport", "ProbeCrowd", "ProbeLink", "ProbeNames",
                "ProbeProxy", "ProbeSystem", "ProbeCapture",
                "ProbeTLS", "ProbeDiagnose", "ProbeWire",
                "ProbeBase", "CShims",
            ],
            swiftSettings: settings
        ),
        .target(name: "ProbeProxy", dependencies: ["ProbeSystem", "ProbeBase"], swiftSettings: settings),
        .target(
            name: "ProbeLink",
            dependencies: ["ProbeSystem", "ProbeBase", "CShims"],
            swiftSettings: settings
        ),
        .target(name: "ProbeNames", dependencies: ["ProbeSystem", "ProbeBase"], swiftSettings: settings),
        .target(
            name: "ProbeCrowd",
            dependencies: ["ProbeSystem", "ProbeBase", .product(name: "HeapModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(
            name: "ProbeTransport",
            dependencies: [
                "ProbeSystem", "ProbeBase", "CShims", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ProbeSystem",
            dependencies: ["ProbeBase", "CShims", .product(name: "HeapModule", package: "swift-collections")],
            swiftSettings: settings
        ),
        .target(
            name: "ProbeCapture", dependencies: ["ProbeWire", "ProbeSystem", "ProbeBase", "CPcap", "CShims"],
            swiftSettings: settings),
        .target(
            name: "ProbeEvents", dependencies: ["ProbeScenario", "ProbeWire", "ProbeBase"], swiftSettings: settings),
        .target(name: "ProbeScenario", dependencies: ["ProbeRegex", "ProbeBase"], swiftSettings: settings),
        .target(name: "ProbeRegex", dependencies: ["ProbeBase"], swiftSettings: settings),
        .target(name: "ProbeTLS", dependencies: ["ProbeBase", "COpenSSL"], swiftSettings: settings),
        .target(name: "ProbeWire", dependencies: ["ProbeBase", "CBytes"], swiftSettings: settings),
        .target(name: "ProbeBase", dependencies: ["CBytes"], swiftSettings: settings),
        .target(name: "ProbeOrigin", swiftSettings: settings, plugins: ["CommitPlugin"]),
        .plugin(name: "CommitPlugin", capability: .buildTool()),
        .systemLibrary(name: "CPcap", pkgConfig: "libpcap", providers: [.apt(["libpcap-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(name: "CEditline", cSettings: cSettings),
        .target(name: "COpenSSL", cSettings: cSettings),
        .target(name: "CShims", cSettings: cSettings),
        .target(name: "CBytes", cSettings: cSettings),
        .testTarget(name: "ArchitectureTests", swiftSettings: settings),
        .testTarget(name: "TCPProbeTests", dependencies: ["TCPProbe"], swiftSettings: settings),
        .testTarget(name: "ProbeBaseTests", dependencies: ["ProbeBase"], swiftSettings: settings),
        .testTarget(
            name: "ProbeScenarioTests", dependencies: ["ProbeScenario", "ProbeRegex", "ProbeBase"],
            swiftSettings: settings),
        .testTarget(
            name: "ProbeNetworkTests",
            dependencies: ["ProbeCrowd", "ProbeLink", "ProbeNames", "ProbeProxy", "ProbeSystem", "ProbeBase"],
            swiftSettings: settings),
        .testTarget(name: "ProbeTLSTests", dependencies: ["ProbeTLS", "ProbeBase"], swiftSettings: settings),
        .testTarget(
            name: "ProbeDiagnoseTests", dependencies: ["ProbeDiagnose", "ProbeScenario", "ProbeBase"],
            swiftSettings: settings),
        .testTarget(name: "ProbeWireTests", dependencies: ["ProbeWire", "ProbeBase"], swiftSettings: settings),
        .testTarget(
            name: "ProbeInspectTests",
            dependencies: [
                "ProbeInspect", "ProbeDiagnose", "ProbeReport", "ProbeEvents", "ProbeScenario", "ProbeSystem",
                "ProbeWire", "ProbeBase", "CZlib", "CZstd",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProbeDeskTests", dependencies: ["ProbeDesk", "ProbeScenario", "ProbeSystem", "ProbeBase"],
            swiftSettings: settings),
        .testTarget(
            name: "ProbeEditorTests", dependencies: ["ProbeEditor", "ProbeScenario", "ProbeBase"],
            swiftSettings: settings),
        .testTarget(
            name: "ProbeExploreTests",
            dependencies: ["ProbeExplore", "ProbeEngine", "ProbeEvents", "ProbeScenario", "ProbeBase"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProbeCaptureTests", dependencies: ["ProbeCapture", "ProbeWire", "ProbeBase", "CShims"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProbeTransportTests",
            dependencies: [
                "TCPProbe", "ProbeTransport", "ProbeTransportNIO", "ProbeSystem", "ProbeBase", "CShims",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProbeReportTests",
            dependencies: ["ProbeReport", "ProbeEvents", "ProbeScenario", "ProbeWire", "ProbeBase"],
            exclude: ["Golden"], swiftSettings: settings
        ),
        .testTarget(
            name: "ProbeSystemTests", dependencies: ["ProbeSystem", "ProbeBase", "CShims"], swiftSettings: settings),
        .testTarget(
            name: "ProbeEngineTests",
            dependencies: [
                "ProbeEngine", "ProbeScenario", "ProbeRegex", "ProbeEvents", "ProbeReport", "ProbeWire",
                "ProbeTransport",
                "ProbeCrowd", "ProbeSystem", "ProbeBase", "ProbeCapture", "CShims",
            ],
            swiftSettings: settings
        ),
    ]
)
