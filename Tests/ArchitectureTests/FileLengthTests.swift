import Testing

/// A file has one subject: a long one has several, a very short one belongs to the file of its only user.
struct FileLengthTests {
    private static let longest = 350
    private static let shortest = 25

    private static func lengths(below folder: String) -> [(path: String, lines: Int)] {
        Repository.files(below: folder, ending: ".swift").map { path in
            (path, Repository.text(path)?.utf8.count { $0 == 10 } ?? 0)
        }
    }

    @Test(arguments: ["Sources", "Tests"])
    func noFileIsLong(folder: String) {
        for (path, lines) in Self.lengths(below: folder) where lines > Self.longest {
            Issue.record("\(path) has \(lines) lines, more than \(Self.longest)")
        }
    }

    @Test func eachShortFileHasAReason() {
        let short = Self.lengths(below: "Sources").filter { $0.lines < Self.shortest }
        for (path, lines) in short where Self.reasons[path] == nil {
            Issue.record("\(path) has \(lines) lines: what it holds belongs into the file of its user")
        }
    }

    @Test(arguments: reasons.keys.sorted())
    func eachReasonIsNeeded(path: String) throws {
        let text = try #require(Repository.text(path), "there is no \(path)")
        #expect(text.utf8.count { $0 == 10 } < Self.shortest, "\(path) is not short any more")
    }

    /// Short files that stay, and why.
    private static let reasons = [
        "Sources/ProbeBase/Values/Comparison.swift": "the language, the wire and the engine compare with it",
        "Sources/ProbeBase/Values/TLSVersion.swift": "the language, the transports and TLS speak of versions",
        "Sources/ProbeCapture/CaptureStatistics.swift": "the run prints what the capture counts",
        "Sources/ProbeEngine/Actors/CaseContext+Connections.swift": "several executors take connections into a case",
        "Sources/ProbeTransport/Reconnecting/TransportReconnect.swift":
            "the language, the adapters and the transports speak of it",
        "Sources/ProbeTransport/TransportHeartbeat.swift": "the language, the adapters and the transports speak of it",
        "Sources/ProbeEngine/Actors/RuntimeActor.swift": "what every kind of actor has",
        "Sources/ProbeEvents/Verdict.swift": "every room above speaks of verdicts",
        "Sources/ProbeOrigin/ProductOrigin.swift": "all programs print it, and another commit compiles nothing else",
        "Sources/ProbeSystem/ConnectionLayer.swift": "a connection has one, and the engine makes it",
        "Sources/ProbeSystem/MonotonicTime+Now.swift": "the clock of a value that is pure elsewhere",
        "Sources/ProbeSystem/OwnedDescriptor.swift": "every descriptor of the rooms above has this owner",
        "Sources/ProbeSystem/ProgramArguments.swift": "both programs read their arguments with it",
        "Sources/ProbeTransport/ProductVersion.swift": "both programs print it, and the adapter protocol says it",
        "Sources/ProbeWire/Decode/CapturedPacket.swift": "decoder, capture files and live capture share it",
        "Sources/ProbeWire/Decode/PacketError.swift": "decoder and reassembly throw it",
        "Sources/ProbeWire/Decode/SequenceNumber.swift": "the arithmetic of sequence numbers, for the whole room",
        "Sources/ProbeWire/Judge/SideNames.swift": "all judges name the sides with it",
    ]
}
