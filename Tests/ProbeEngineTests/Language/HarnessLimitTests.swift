import ProbeEvents
import Testing

/// If input exceeds a limit of the harness, the result is always an error, not a failure of the sender.
struct HarnessLimitTests {
    /// Length prefixes that announce more than 64 MiB, for each framing with a length prefix.
    private static let longPrefixes = [
        ("u32", "hex(04 00 00 01)", "67108865"), ("u32le", "hex(01 00 00 04)", "67108865"),
        ("u64", "hex(00 00 00 00 04 00 00 01)", "67108865"),
        ("u64", "hex(ff ff ff ff ff ff ff ff)", "18446744073709551615"),
        ("varint", "hex(81 80 80 20)", "67108865"), ("netstring", "\"67108865:\"", "67108865"),
    ]
    private static let expectations = ["S expect message \"a\"", "S expect message as m", "S expect message /a/"]

    private func pair(_ steps: String) -> String { "server S\nclient C -> S\nC connect\nS accept\n" + steps }

    @Test(arguments: longPrefixes, expectations)
    func lengthPrefixOverTheLimitIsAnError(
        _ framing: (name: String, prefix: String, length: String), _ expectation: String
    ) async throws {
        try await Scene(
            "a long \(framing.name)", .error,
            says: ["\(framing.length), which is more than the harness keeps (64 MiB)", "section Limits"],
            pair("S framing \(framing.name)\nC send \(framing.prefix)\n\(expectation) #!")
        ).verify()
    }

    @Test(arguments: expectations)
    func netstringLengthOfTwentyDigitsIsAnError(_ expectation: String) async throws {
        try await Scene(
            "a long length", .error, says: ["more than 19 digits, but the harness keeps 64 MiB at most"],
            pair("S framing netstring\nC send \"12345678901234567890:a\"\n\(expectation) #!")
        ).verify()
    }

    @Test(arguments: expectations)
    func frameOverTheLimitIsAnError(_ expectation: String) async throws {
        try await Scene(
            "a long frame", .error, says: ["67108865 bytes, which is more than the harness keeps (64 MiB)"],
            pair("S framing websocket\nC framing websocket\nC send ws.text(\"a\", length: 67108865)\n\(expectation) #!")
        ).verify()
    }

    /// Protobuf groups may be nested to any depth, but the harness reads at most 100 levels.
    @Test func deeplyNestedGroupsAreAnError() async throws {
        try await Scene(
            "deep groups", .error, says: ["groups are nested more than 100 deep"],
            pair("C send hex(0b) * 101 + hex(0c) * 101\nS expect 202 bytes as m\ncheck pb(m, 1) == \"\" #!")
        ).verify()
    }

    /// A member of a crowd keeps at most 256 KiB of a line.
    @Test(
        arguments: ["received no end of line within 262144 bytes", "received no delimiter within 262144 bytes"],
        ["", "W expect failed 0", "W expect failed <= 5", "W expect done 5 within 60ms"])
    func memberLineOverTheLimitIsAnError(_ reason: String, _ step: String) async throws {
        let program = CrowdTests.worker(CrowdTests.snapshot(failed: 1, reason: reason))
        let result = try await CrowdTests.run("W start { connect }\n\(step)", program)
        let texts = CrowdTests.texts(of: result)
        #expect(result.verdict == .error, "\(texts)")
        #expect(texts.contains("members of W reached a limit of the harness"), "\(texts)")
    }

    // MARK: Integers of 64 bits

    /// Integers in protobuf and other formats are compared by their actual value.
    private static let fields = [
        ("fixed64", "hex(09 ff ff ff ff ff ff ff ff)", "18446744073709551615"),
        ("fixed64", "hex(09 00 00 00 00 00 00 00 80)", "9223372036854775808"),
        ("varint", "hex(08 ff ff ff ff ff ff ff ff ff 01)", "18446744073709551615"),
        ("varint", "hex(08 80 80 80 80 80 80 80 80 80 01)", "9223372036854775808"),
    ]

    @Test(arguments: fields)
    func unsignedFieldIsComparedByItsActualValue(
        _ field: (format: String, bytes: String, value: String)
    ) async throws {
        let count = field.format == "fixed64" ? 9 : 11
        let received = pair("C send \(field.bytes)\nS expect \(count) bytes as m\n")
        for holding in ["== \(field.value)", ">= \(field.value)", ">= 9223372036854775808", "!= 9223372036854775809"] {
            try await Scene("\(field.format) \(holding)", .passed, received + "check pb(m, 1) \(holding)").verify()
        }
        if field.format == "fixed64" {
            try await Scene("a sign", .passed, received + "check pb(m, 1) > 5\ncheck pb(m, 1) != int -1").verify()
        }
        for missing in ["== 9223372036854775809", "< 9223372036854775808", "!= \(field.value)", "== 5"] {
            try await Scene(
                "\(field.format) \(missing)", .failed, says: ["does not hold"],
                received + "check pb(m, 1) \(missing) #!"
            ).verify()
        }
    }

    /// Without a schema, a varint is taken to be signed, unless it is compared with a number that only an unsigned
    /// integer can hold.
    @Test func varintKeepsItsSign() async throws {
        try await Scene(
            "signs", .passed,
            pair(
                "C send pb(1: int -1)\nS expect 11 bytes as m\ncheck pb(m, 1) == int -1\ncheck pb(m, 1) < 0\n"
                    + "check pb(m, 1) == 18446744073709551615\ncheck 18446744073709551614 < pb(m, 1)")
        ).verify()
    }

    @Test(arguments: [
        ("u64", "ff ff ff ff ff ff ff ff", "18446744073709551615"),
        ("u64le", "00 00 00 00 00 00 00 80", "9223372036854775808"),
        ("varint", "80 80 80 80 80 80 80 80 80 01", "0x8000000000000000"),
    ])
    func largeUnsignedIntegerRoundTrips(_ format: String, _ bytes: String, _ value: String) async throws {
        try await Scene(
            "a large \(format)", .passed,
            pair(
                "C send hex(\(bytes))\nS expect \(format) as n\ncheck n == \(value)\ncheck n > 5\ncheck n != 5\n"
                    + "S send \(format)(n)\nC expect \(format)(\(value))\nC send line \"${n}\"\nS expect line as l\n"
                    + "check int(l) == n")
        ).verify()
        try await Scene(
            "another \(format)", .failed, says: ["== 9223372036854775809 does not hold"],
            pair("C send hex(\(bytes))\nS expect \(format) as n\ncheck n == 9223372036854775809 #!")
        ).verify()
    }

    @Test(arguments: [
        "check n + 1 == 5", "check n - 1 == 5", "check n * 2 == 5", "check (n / 2) == 5", "check 1 + n == 5",
        "C send u32(n)",
        "C send pb(1: fixed32 n)", "C send pb(1: sint n)", "C send pb(n: 1)", "C send random(n, seed 1)",
    ])
    func largeUnsignedIntegerSupportsNoArithmetic(_ step: String) async throws {
        try await Scene(
            step, .error, says: ["too large"],
            pair("C send hex(ff ff ff ff ff ff ff ff)\nS expect u64 as n\n\(step) #!")
        ).verify()
    }

    @Test func messagesMayContainLargeUnsignedIntegers() async throws {
        try await Scene(
            "a message", .passed,
            pair(
                "C framing varint\nS framing varint\n"
                    + "C send message pb(1: fixed64 18446744073709551615, 2: 18446744073709551615, 3: [18446744073709551615])\n"
                    + "S expect message pb(1: fixed64 18446744073709551615, 2: 18446744073709551615, 3: [18446744073709551615])"
            )
        ).verify()
    }
}
