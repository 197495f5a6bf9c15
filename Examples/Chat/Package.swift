// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Chat",
    dependencies: [
        // In your own package, use: .package(url: "https://github.com/OWNER/tcpprobe", from: "0.1.0")
        .package(name: "tcpprobe", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    ],
    targets: [
        .target(
            name: "ChatRoom",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
            ]
        ),
        .executableTarget(name: "chat-room", dependencies: ["ChatRoom"]),
        .target(
            name: "ChatClient",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
            ]
        ),
        .testTarget(
            name: "ChatTests",
            dependencies: ["ChatClient", .product(name: "TCPProbe", package: "tcpprobe")]
        ),
    ]
)
