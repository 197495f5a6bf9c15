import ProbeEvents
import Testing

/// Each `expect` on the harness's connections: when it passes, and each way in which it can fail.
struct ExpectTests {
    /// Returns a script with a connection between two harness endpoints, C and S.
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene("bytes", .passed, pair("C send \"abc\"\nS expect \"ab\"\nS expect \"c\"\nC close\nS expect eof")),
        Scene(
            "other bytes", .failed, says: ["S received \"axc\", expected \"abc\"", "expected: abc", "actual: axc"],
            pair("C send \"axc\"\nS expect \"abc\" #!")),
        Scene(
            "too few bytes", .failed, says: ["did not receive \"abc\" within 30ms", "actual: ab"],
            pair("C send \"ab\"\nS expect \"abc\" within 30ms #!")),
        Scene(
            "end before the bytes", .failed, says: ["was closed by the peer (FIN)", "actual: ab"],
            pair("C send \"ab\"\nC close\nS expect \"abc\" #!")),
        Scene("line", .passed, pair("C send line \"x\"\nS expect line \"x\"")),
        Scene(
            "line regex binds", .passed, pair("C send line \"id 42\"\nS expect line /id (?<n>\\d+)/\ncheck n == \"42\"")
        ),
        Scene("line as", .passed, pair("C send line \"hello\"\nS expect line as x\ncheck x == \"hello\"")),
        Scene(
            "another line", .failed, says: ["S received \"y\", expected line \"x\"", "expected: x", "actual: y"],
            pair("C send line \"y\"\nS expect line \"x\" #!")),
        Scene(
            "LF instead of CRLF", .failed, says: ["LF instead of CRLF"],
            pair("C send \"x\\n\"\nS expect line \"x\" #!")),
        Scene(
            "LF instead of CRLF, regex", .failed, says: ["LF instead of CRLF"],
            pair("C send \"x\\n\"\nS expect line /x/ within 30ms #!")),
        Scene(
            "CR instead of CRLF", .failed, says: ["CR instead of CRLF"],
            pair("C send \"x\\rfoo\"\nS expect line \"x\" #!")),
        Scene(
            "line without terminator", .failed, says: ["the line was received without CRLF"],
            pair("C send \"x\"\nC close\nS expect line \"x\" #!")),
        Scene(
            "CRLF with LF framing", .failed, says: ["CRLF instead of LF"],
            pair("C send \"x\\r\\n\"\nS expect line \"x\" #!", header: "framing lf")),
        Scene(
            "case differs", .failed, says: ["the lines are otherwise equal"],
            pair("C send line \"Ok\"\nS expect line \"OK\" #!")),
        Scene(
            "late line", .failed, says: ["S did not receive line \"x\" within 20ms", "after the deadline"],
            pair("together {\nS expect line \"x\" within 20ms #!\ndo { wait 90ms; C send line \"x\" }\n}")),
        Scene(
            "until line", .passed,
            pair(
                "C send lines(\"a\", \"b\", \"end\", \"z\")\nS expect until line /end/ as x\n"
                    + "check x == \"a\\r\\nb\\r\\nend\\r\\n\"\nS expect line \"z\"")),
        Scene(
            "until line that is never received", .failed, says: ["the line \"end\""],
            pair("C send lines(\"a\", \"b\")\nS expect until line \"end\" within 30ms #!")),
        Scene(
            "lines in any order", .passed,
            pair("C send lines(\"b\", \"a\")\nS expect lines in any order \"a\", \"b\"")),
        Scene(
            "any order with a pattern that matches both", .passed,
            pair("C send lines(\"a\", \"b\")\nS expect lines in any order /./, \"a\"")),
        Scene(
            "any order with an optional line", .passed,
            pair(
                "C send lines(\"c\", \"a\")\nS expect lines in any order \"a\", optional \"c\"\nC send line \"d\"\nS expect line \"d\""
            )),
        Scene(
            "any order, an unexpected line", .failed, says: ["not one of those still expected", "actual: z"],
            pair("C send lines(\"a\", \"z\")\nS expect lines in any order \"a\", \"b\" #!")),
        Scene(
            "any order, a repeated line", .failed, says: ["not one of those still expected"],
            pair("C send lines(\"a\", \"a\")\nS expect lines in any order \"a\", \"b\" #!")),
        Scene(
            "count", .passed, pair("C send \"abcd\"\nS expect 3 bytes as x\ncheck x == \"abc\"\nS expect (4 - 3) bytes")
        ),
        Scene(
            "count too high", .failed, says: ["did not receive 5 bytes", "actual: abcd"],
            pair("C send \"abcd\"\nS expect 5 bytes within 30ms #!")),
        Scene(
            "until", .passed, pair("C send \"ab\\0c\"\nS expect until \"\\0\" as x\ncheck x == \"ab\"\nS expect \"c\"")),
        Scene(
            "until without delimiter", .failed, says: ["bytes until"],
            pair("C send \"ab\"\nS expect until \"\\0\" within 30ms #!")),
        Scene("any bytes", .passed, pair("C send \"ab\"\nS expect any bytes as x\ncheck len(x) >= 1")),
        Scene("no bytes", .failed, says: ["received no bytes"], pair("S expect any bytes within 30ms #!")),
        Scene(
            "integers", .passed,
            pair(
                "C send u8(1) + u16(258) + u16le(258) + u32(7) + u64(8) + varint(300)\nS expect u8 as a\nS expect u16 as b\n"
                    + "S expect u16le as c\nS expect u32 as d\nS expect u64 as e\nS expect varint as f\n"
                    + "check a == 1\ncheck b == 258\ncheck c == 258\ncheck d == 7\ncheck e == 8\ncheck f == 300")),
        Scene(
            "delimiter", .passed,
            pair(
                "C framing \"aab\"\nS framing \"aab\"\nC send line \"xa\" | \"a\" every 2ms\nC send \"aab\"\nS expect line \"xaa\"\n"
                    + "S expect line \"\"")),
        Scene(
            "netstrings", .passed,
            pair(
                "C framing netstring\nS framing netstring\nC send \"3\" | \":ab\" | \"c\" | \",0:\" | \",\" every 2ms\n"
                    + "S expect message \"abc\"\nS expect message \"\"\nC send line \"1:a,\"\nS expect \"4:1:a,,\"")),
        Scene(
            "netstring with a leading zero", .failed, says: ["a leading zero"],
            pair("S framing netstring\nC send \"01:a,\"\nS expect message \"a\" #!")),
        Scene(
            "netstring without its comma", .failed, says: ["without a comma at its end"],
            pair("S framing netstring\nC send \"1:a;\"\nS expect message \"a\" #!")),
        Scene(
            "three-byte and little-endian lengths", .passed,
            pair(
                "C framing u24\nS framing u24\nC send line \"a\"\nS expect message \"a\"\nC framing u16le\nS framing u16le\n"
                    + "C send line \"b\"\nS expect message \"b\"\nC framing u32le\nS framing u32le\nC send line \"c\"\n"
                    + "S expect hex(01 00 00 00) + \"c\"")),
        Scene(
            "largest unsigned integer", .passed,
            pair(
                "C send hex(ff ff ff ff ff ff ff ff)\nS expect u64 as n\n"
                    + "check n == 18446744073709551615\ncheck n > 0")),
        Scene(
            "varint too long", .failed, says: ["varint of more than 64 bits"],
            pair("C send hex(ff ff ff ff ff ff ff ff ff 7f)\nS expect varint as n #!")),
        Scene(
            "incomplete integer", .failed, says: ["did not receive a u32"],
            pair("C send \"ab\"\nS expect u32 as n within 30ms #!")),
        Scene(
            "check that does not hold", .failed, says: ["3 == 4 does not hold"],
            pair("C send \"abc\"\nS expect any bytes as x\ncheck 3 == 4 #!")),
        Scene(
            "check contains, lacks, matches", .passed,
            pair(
                "C send \"abc\"\nS expect 3 bytes as x\ncheck x contains \"bc\"\ncheck x lacks \"z\"\ncheck x matches /^a/"
            )),
        Scene(
            "check lacks fails", .failed, says: ["the value contains \"b\""],
            pair("C send \"abc\"\nS expect 3 bytes as x\ncheck x lacks \"b\" #!")),
    ])
    func bytesAndLinesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene("eof", .passed, pair("C close\nS expect eof")),
        Scene("reset", .passed, pair("C reset\nS expect reset")),
        Scene("closed by FIN", .passed, pair("C close\nS expect closed")),
        Scene("closed by RST", .passed, pair("C reset\nS expect closed")),
        Scene(
            "eof expected, reset received", .failed,
            says: ["reset (RST) while S expected eof", "an RST instead of a FIN"],
            pair("C reset\nS expect eof #!")),
        Scene(
            "reset expected, eof received", .failed, says: ["closed by the peer (FIN) while S expected reset"],
            pair("C close\nS expect reset #!")),
        Scene(
            "bytes before the end", .failed, says: ["received data, expected eof", "actual: x"],
            pair("C send \"x\"\nC close\nS expect eof #!")),
        Scene("no end", .failed, says: ["did not receive eof (FIN) within 30ms"], pair("S expect eof within 30ms #!")),
        Scene("end after ignored bytes", .passed, pair("S ignore rest\nC send \"x\"\nC close\nS expect eof")),
        Scene("nothing", .passed, pair("S expect nothing for 20ms")),
        Scene(
            "nothing expected, stale bytes", .failed,
            says: ["S received data before the step began, expected silence for 20ms", "actual: y"],
            pair("C send \"xy\"\nS expect \"x\"\nS expect nothing for 20ms #!")),
        Scene(
            "nothing expected, bytes received", .failed, says: ["after the step began"],
            pair("together {\nS expect nothing for 2s #!\ndo { wait 20ms; C send \"x\" }\n}")),
        Scene(
            "nothing expected, end received", .failed, says: ["closed by the peer (FIN) while S expected silence"],
            pair("together {\nS expect nothing for 2s #!\ndo { wait 20ms; C close }\n}")),
        Scene(
            "nothing expected, unread bytes in the kernel", .failed, says: ["in the kernel"],
            pair("S stop reading\nC send \"x\"\nwait 5ms\nS expect nothing for 20ms #!\nS reset")),
        Scene(
            "nothing expected, unread end in the kernel", .failed, says: ["closed"],
            pair("S stop reading\nC close\nwait 5ms\nS expect nothing for 20ms #!\nS reset")),
        Scene("within is met", .passed, pair("C send \"x\"\nS expect \"x\" within 2s")),
        Scene(
            "after is met", .passed,
            pair("together {\nS expect \"x\" after 30ms\ndo { wait 40ms; C send \"x\" }\n}")),
        Scene(
            "after expected, received earlier", .failed, says: ["was too early", "expected 3s or more"],
            pair("C send \"x\"\nS expect \"x\" after 3s #!")),
        Scene(
            "after is judged by the arrival time", .failed,
            says: ["was too early", "expected 20ms or more"],
            pair("C send \"x\"\nwait 60ms\nS expect \"x\" after 20ms #!")),
        Scene(
            "within counts from the previous step", .passed,
            pair("C send \"x\"\nwait 60ms\nS expect \"x\" within 20ms")),
        Scene(
            "deadlines are scaled", .passed, timeScale: 40,
            pair("together {\nS expect \"x\" within 30ms\ndo { wait 60ms; C send \"x\" }\n}")),
        Scene(
            "lower bounds are not scaled", .passed, timeScale: 8,
            pair("together {\nS expect \"x\" after 20ms\ndo { wait 40ms; C send \"x\" }\n}")),
        Scene(
            "a huge scale", .passed, timeScale: 1e18, pair("C send \"x\"\nS expect \"x\" within 30ms")),
    ])
    func endsAndTimesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    /// The end of a connection is not reported again after a step has expected it.
    @Test(arguments: [
        Scene(
            "eof, then nothing", .passed, pair("S close\nC expect eof\nC expect nothing for 20ms\nC expect eof")),
        Scene("eof twice", .passed, pair("S close\nC expect eof\nC expect eof\nC expect closed within 1ms")),
        Scene(
            "reset, then nothing", .passed, pair("S reset\nC expect reset\nC expect nothing for 20ms\nC expect reset")),
        Scene("closed, then nothing", .passed, pair("S close\nC expect closed\nC expect nothing for 20ms")),
        Scene(
            "eof in a branch, then nothing", .passed,
            pair("S close\neither { C expect line \"x\" } or { C expect eof }\nC expect nothing for 20ms")),
        Scene(
            "eof in a failed attempt", .passed,
            pair(
                "S close\nlet n = 0\nretry every 10ms within 5s {\nC expect eof\nC expect nothing for 1ms\nlet n = (n + 1)\n"
                    + "check n == 3\n}\nC expect nothing for 1ms")),
        Scene(
            "eof after ignored bytes, then nothing", .passed,
            pair("C ignore rest\nS send \"x\"\nS close\nC expect eof\nC expect nothing for 20ms")),
        Scene(
            "eof of an earlier connection does not count for this one", .failed,
            says: ["closed by the peer (FIN) while C expected silence"],
            "server S\nclient C -> S\nC connect\nS accept as A\nA close\nC expect eof\nC close\n"
                + "C connect\nS accept as B\nB close\nC expect nothing for 2s #!"),
        Scene(
            "an unconsumed end breaks silence", .failed, says: ["closed by the peer (FIN) while C expected silence"],
            pair("S send \"x\"\nS close\nC expect \"x\"\nC expect nothing for 2s #!")),
        Scene(
            "a line expected after a consumed end", .failed, says: ["closed by the peer (FIN) while C expected line"],
            pair("S close\nC expect eof\nC expect line \"x\" #!")),
        Scene(
            "a consumed eof is not a reset", .failed, says: ["closed by the peer (FIN) while C expected reset"],
            pair("S close\nC expect eof\nC expect reset #!")),
    ])
    func endIsReportedOnce(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene("urgent", .passed, pair("C send \"a\"\nC send urgent \"!\"\nS expect \"a\"\nS expect urgent \"!\"")),
        Scene(
            "unexpected urgent byte", .failed, says: ["unexpected urgent bytes", "actual: ?"],
            pair("C send urgent \"?\"\nS expect urgent \"!\" #!")),
        Scene("no urgent byte", .failed, says: ["no urgent byte"], pair("S expect urgent \"!\" within 30ms #!")),
        Scene(
            "unconsumed urgent byte", .failed, says: ["1 urgent byte that no step consumed", "actual: !"],
            pair("C send urgent \"!\"\nC send \"a\"\nS expect \"a\"")),
        Scene(
            "urgent data is not part of the stream", .failed, says: ["expected: a!b"],
            pair("C send \"a\"\nC send urgent \"!\"\nC send \"b\"\nS expect \"a!b\" within 50ms #!")),
        Scene(
            "close after an urgent byte", .passed,
            pair("C send urgent \"!\"\nC send \"x\"\nS expect urgent \"!\"\nS expect \"x\"\nS close\nC expect eof")),
    ])
    func urgentDataHasExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    @Test(
        arguments: ["crlf", "lf", "cr", "nul", "u8", "u16", "u32", "u64", "varint"])
    func messagesFollowTheFraming(_ framing: String) async throws {
        try await Scene(
            "message in \(framing)", .passed,
            Self.pair(
                "C send line \"one\" cut at 1\nC send line \"two\"\nS expect message \"one\"\nS expect message /t(?<x>wo)/\n"
                    + "check x == \"wo\"\nC close\nS expect eof", header: "framing \(framing)")
        ).verify()
        try await Scene(
            "half a message in \(framing)", .failed, says: ["message \"one\""],
            Self.pair("C send hex(00)\nC close\nS expect message \"one\" #!", header: "framing \(framing)")
        ).verify()
    }
}
