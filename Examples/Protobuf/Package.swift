// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Protobuf",
    dependencies: [
        // In your own package, use: .package(url: "https://github.com/OWNER/tcpprobe", from: "0.1.0")
        .package(name: "tcpprobe", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        .target(
            name: "SampleStream",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]
        ),
        .testTarget(
            name: "SampleStreamTests",
            dependencies: ["SampleStream", .product(name: "TCPProbe", package: "tcpprobe")]
        ),
    ]
)
