package import ProbeBase
package import ProbeReport
package import ProbeWire

/// Writes both streams of a flow in the order of the capture. Each line of a stream is written on a separate line, and
/// a long line is split into pieces.
package final class FollowObserver: InspectionObserver {
    package enum Form: Sendable {
        /// Text in quotes, escaped so that the bytes can be recovered.
        case escaped
        /// Text without quotes and line ends.
        case text
        /// A hexadecimal dump with offsets in the stream.
        case hex
    }

    private let form: Form
    private let showsTimes: Bool
    private let paint: Paint
    private let output: TextOutput
    /// The number of bytes on each line of a hexadecimal dump.
    private let rowLength: Int

    private var line: [UInt8] = []
    private var currentSide: ConversationSide?
    /// The stream offset of the first byte of `line`.
    private var offset: Int64 = 0
    /// The time of the packet that was read last. `lineTime` is the time of the packet that carried the first byte of
    /// `line`.
    private var now: UInt64 = 0
    private var lineTime: UInt64 = 0
    private var start: UInt64?
    /// The number of bytes after which a line without a line end is split, at the next character boundary.
    private static let longestPiece = 256

    package init(
        form: Form = .escaped, showsTimes: Bool = false, width: Int? = nil, paint: Paint = .plain,
        output: @escaping TextOutput
    ) {
        self.form = form
        self.showsTimes = showsTimes
        self.paint = paint
        self.output = output
        // A line of a hexadecimal dump consists of two blanks, the offset, each byte as ` 00` and as a character, and
        // the separators.
        rowLength = [16, 8].first { 15 + 4 * $0 <= width ?? .max } ?? 4
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        now = packet.summary.time
        if start == nil { start = now }
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        if currentSide != side { flush() }
        currentSide = side
        switch part.content {
        case .gap(let gap):
            flush()
            output("\(lead(side, now))(\(paint(.marker, GapText.text(gap))))\n")
        case .bytes(let bytes):
            if line.isEmpty { begin(at: part.offset) }
            for (index, byte) in bytes.enumerated() {
                // A line is not split inside a UTF-8 character.
                if form != .hex, line.count >= Self.longestPiece,
                    byte & 0xC0 != 0x80 || line.count > Self.longestPiece + 3
                {
                    flush()
                    begin(at: part.offset + Int64(index))
                }
                line.append(byte)
                if form != .hex, byte == 0x0a {
                    flush()
                    begin(at: part.offset + Int64(index) + 1)
                }
            }
            // A hexadecimal dump shows each part separately, with the time of the packet that carried it.
            if form == .hex { flush() }
        }
    }

    package func end(of conversation: Conversation) { flush() }

    private func begin(at offset: Int64) {
        self.offset = offset
        lineTime = now
    }

    private func lead(_ side: ConversationSide, _ time: UInt64) -> String {
        let word = paint(side == .client ? .client : .server, side.word)
        guard showsTimes else { return "\(word)  " }
        let seconds = DurationText.seconds(DurationText.difference(from: start ?? time, to: time))
        return "\(Columns.right(seconds, to: 11))  \(word)  "
    }

    private func flush() {
        guard !line.isEmpty, let currentSide else { return }
        switch form {
        case .escaped: output("\(lead(currentSide, lineTime))\(Escaped.readable(line))\n")
        case .text:
            var text = line[...]
            if text.last == 0x0a { text = text.dropLast() }
            if text.last == 0x0d, text.count < line.count { text = text.dropLast() }
            output("\(lead(currentSide, lineTime))\(Escaped.text(text))\n")
        case .hex:
            output("\(lead(currentSide, lineTime))\(ByteText.count(line.count, "byte")) at offset \(offset)\n\(dump())")
        }
        line = []
    }

    /// Returns a hexadecimal dump of `line`, such as `  00000000  32 32 30 20 72 65 61  |220 rea|`.
    private func dump() -> String {
        stride(from: 0, to: line.count, by: rowLength).map { first in
            let row = line[first..<min(first + rowLength, line.count)]
            let place = String(offset + Int64(first), radix: 16)
            let bytes = row.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(separator: " ")
            let text = String(decoding: row.map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            return "  \(String(repeating: "0", count: max(0, 8 - place.count)))\(place)  "
                + "\(Columns.padded(bytes, to: 3 * rowLength - 1))  |\(text)|\n"
        }.joined()
    }
}

/// Describes gaps in a stream.
enum GapText {
    static func text(_ gap: StreamGap) -> String {
        "\(ByteText.count(Int(clamping: gap.length), "byte")) at offset \(gap.offset) \(reason(gap.cause))"
    }

    static func reason(_ cause: StreamGap.Cause) -> String {
        switch cause {
        case .notCaptured: "missing from the capture"
        case .cutShort: "cut off by the snap length"
        case .limitReached: "given up, because they had not arrived when the memory for later data was used up"
        }
    }
}
