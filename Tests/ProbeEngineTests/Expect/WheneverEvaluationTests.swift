import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// The lines that a `whenever` answers, tested without sockets.
struct WheneverEvaluationTests {
    private static func buffer(_ pieces: [String]) -> ReceiveBuffer {
        var buffer = ReceiveBuffer()
        for piece in pieces { buffer.append(Array(piece.utf8), at: .milliseconds(0)) }
        return buffer
    }

    /// Returns answers as text such as `4..<10 by 0 n=7`, which contains the range of the line, the number of the rule,
    /// and the captured groups.
    private static func text(_ answers: [WheneverEvaluation.Answer]) -> [String] {
        answers.map { answer in
            let groups = answer.groups.map { name, value in " \(name)=\(value.bytes.map(Escaped.text) ?? "")" }
            return "\(answer.line) by \(answer.rule)\(groups.joined())"
        }
    }

    private static let rules = ["^ping (?<n>[0-9]+)$", "^p"]

    @Test(arguments: [
        ("", Framing.crlf, []),
        ("ping 7", .crlf, []),
        ("ping 7\r\n", .crlf, ["0..<8 by 0 n=7"]),
        ("ping 7\r\nx\r\npong\r\nping 8", .crlf, ["0..<8 by 0 n=7", "11..<17 by 1"]),
        ("ping 7\nx\nping 8\n", .lf, ["0..<7 by 0 n=7", "9..<16 by 0 n=8"]),
        ("\u{6}ping 7\u{1}x", .u8, ["0..<7 by 0 n=7"]),
        // A `whenever` ignores an invalid length prefix, which is reported when a step expects a message.
        ("\u{7f}\u{7f}\u{7f}\u{7f}ping 7", .u32, []),
    ])
    func firstMatchingRuleAnswersTheLine(_ came: String, _ framing: Framing, _ expected: [String]) throws {
        let rules = try Self.rules.map { ExpectedText.regex(try ByteRegex($0)) }
        var progress = WheneverEvaluation.Progress()
        let evaluation = WheneverEvaluation(buffer: Self.buffer([came]), framing: framing)
        #expect(Self.text(evaluation.evaluate(rules, &progress)) == expected)
        // A line that has been evaluated is not answered again.
        #expect(evaluation.evaluate(rules, &progress).isEmpty)
    }

    /// However the bytes are divided, and whatever steps consume in the meantime, each line is answered once.
    @Test(arguments: 0..<40)
    func eachLineIsAnsweredOnce(_ seed: Int) throws {
        var generator = SplitMix64(seed: seed)
        let rules = try Self.rules.map { ExpectedText.regex(try ByteRegex($0)) }
        var buffer = ReceiveBuffer()
        var progress = WheneverEvaluation.Progress()
        var rest = Array((0..<20).map { $0 % 3 == 0 ? "ping \($0)\r\n" : "other\r\n" }.joined().utf8)[...]
        var answered: [String] = []
        while !rest.isEmpty {
            let piece = rest.prefix(1 + generator.below(9))
            rest = rest.dropFirst(piece.count)
            buffer.append(Array(piece), at: .milliseconds(0))
            let answers = WheneverEvaluation(buffer: buffer, framing: .crlf).evaluate(rules, &progress)
            answered += answers.compactMap { $0.groups.first?.1.bytes.map(Escaped.text) }
            buffer.remove(answers.map(\.line))
            // A step consumes a line that no rule has answered.
            if generator.below(4) == 0, let end = buffer.firstIndex(of: [13, 10]) { buffer.drop(end + 2) }
        }
        #expect(answered == (0..<20).filter { $0 % 3 == 0 }.map { "\($0)" })
    }
}
