// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "LineTransport",
    dependencies: [
        // In your own package, use: .package(url: "https://github.com/OWNER/tcpprobe", from: "0.1.0")
        .package(name: "tcpprobe", path: "../..")
    ],
    targets: [
        .target(name: "LineTransport"),
        .testTarget(
            name: "LineTransportTests",
            dependencies: ["LineTransport", .product(name: "TCPProbe", package: "tcpprobe")]
        ),
    ]
)
