import ProbeBase
package import ProbeWire

/// Writes the two streams in order and escaped: each line of a stream on a line of its own; a long line in pieces.
package final class FollowObserver: InspectionObserver {
    private let output: TextOutput
    private var line: [UInt8] = []
    private var speaker: ConversationSide?
    /// The most bytes on one line, if the stream has no end of line.
    private static let longestPiece = 256

    package init(output: @escaping TextOutput) {
        self.output = output
    }

    package func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {}

    package func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        if speaker != side { flush() }
        speaker = side
        switch part.content {
        case .gap(let gap):
            flush()
            output("\(side.word)  (\(GapText.text(gap)))\n")
        case .bytes(let bytes):
            for byte in bytes {
                line.append(byte)
                if byte == 0x0a || line.count >= Self.longestPiece { flush() }
            }
        }
    }

    package func end(of conversation: Conversation) { flush() }

    private func flush() {
        guard !line.isEmpty, let speaker else { return }
        output("\(speaker.word)  \(Escaped.literal(line))\n")
        line = []
    }
}

/// The text for a gap.
enum GapText {
    static func text(_ gap: StreamGap) -> String {
        "\(ByteText.count(Int(clamping: gap.length), "byte")) at offset \(gap.offset) \(reason(gap.cause))"
    }

    static func reason(_ cause: StreamGap.Cause) -> String {
        switch cause {
        case .notCaptured: "missing from the capture"
        case .cutShort: "cut off by the snap length"
        case .limitReached: "given up: they had not come before the memory for what follows them was used up"
        }
    }
}
