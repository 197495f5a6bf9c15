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
        for (path, lines) in Self.lengths(below: folder) where lines > Self.longest && !Self.toBeSplit.contains(path) {
            Issue.record("\(path) has \(lines) lines, more than \(Self.longest)")
        }
    }

    @Test func eachShortFileHasAReason() {
        let short = Self.lengths(below: "Sources").filter { $0.lines < Self.shortest }
        for (path, lines) in short where Self.reasons[path] == nil {
            Issue.record("\(path) has \(lines) lines: what it holds belongs into the file of its user")
        }
    }

    /// Long files that are about to be split.
    private static let toBeSplit: Set = [
        "Sources/ProbeEngine/Case/CaseRun+Expect.swift", "Sources/ProbeScenario/Parse/Parser+Header.swift",
        "Sources/ProbeWire/Reassemble/StreamAssembler.swift", "Tests/ProbeCaptureTests/CaptureTests.swift",
        "Tests/ProbeEngineTests/Language/BlockTests.swift", "Tests/ProbeEngineTests/Language/ConnectionTests.swift",
        "Tests/ProbeEngineTests/Language/ProcessTests.swift", "Tests/ProbeScenarioTests/ConstructTests.swift",
        "Tests/ProbeWireTests/Judge/JudgeTests.swift",
    ]

    /// Short files that stay, and why.
    private static let reasons = [
        "Sources/ProbeBase/Values/Comparison.swift": "the language, the wire and the engine compare with it",
        "Sources/ProbeCapture/CaptureScope.swift": "",
        "Sources/ProbeCapture/CaptureStatistics.swift": "",
        "Sources/ProbeCapture/FenceOutcome.swift": "",
        "Sources/ProbeCapture/SystemMessage.swift": "",
        "Sources/ProbeEngine/Actors/RuntimeActor.swift": "",
        "Sources/ProbeEngine/Case/ProcessEnvironment.swift": "",
        "Sources/ProbeEngine/Matching/EscapedText.swift": "",
        "Sources/ProbeEngine/Matching/ExitText.swift": "",
        "Sources/ProbeEvents/Verdict.swift": "every room above speaks of verdicts",
        "Sources/ProbeInspect/Showing/TextOutput.swift": "",
        "Sources/ProbeScenario/Language/Capability.swift": "transports, checks and the engine name capabilities by it",
        "Sources/ProbeScenario/Language/ReservedNames.swift": "",
        "Sources/ProbeScenario/Regex/ByteRegex+Quoting.swift": "",
        "Sources/ProbeSystem/MonotonicTime+Now.swift": "the clock of a value that is pure elsewhere",
        "Sources/ProbeSystem/OwnedDescriptor.swift": "every descriptor of the rooms above has this owner",
        "Sources/ProbeSystem/ProgramArguments.swift": "both programs read their arguments with it",
        "Sources/ProbeTransport/ProductVersion.swift": "both programs print it, and the adapter protocol says it",
        "Sources/ProbeWire/Decode/CapturedPacket+Decode.swift": "",
        "Sources/ProbeWire/Decode/CapturedPacket.swift": "",
        "Sources/ProbeWire/Decode/PacketError.swift": "",
        "Sources/ProbeWire/Decode/SequenceNumber.swift": "",
        "Sources/ProbeWire/FastPath/CaptureAnalysis+Merge.swift": "",
        "Sources/ProbeWire/FastPath/ColdStorage.swift": "",
        "Sources/ProbeWire/FastPath/SharedLimits.swift": "",
        "Sources/ProbeWire/Judge/SideNames.swift": "",
        "Sources/ProbeWire/Reassemble/StreamGap.swift": "",
        "Sources/ProbeWire/Reassemble/StreamPart.swift": "",
        "Sources/TCPProbeCommand/Failure.swift": "",
        "Sources/TCPProbeKit/AdapterService.swift": "a function of the library of its own",
        "Sources/TCPProbeKit/TCPProbe.swift": "what the module exports, and how it is used",
    ]
}
