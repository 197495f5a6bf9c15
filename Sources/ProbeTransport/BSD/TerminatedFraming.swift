import ProbeWire

/// A message as the decoder found it.
struct Frame: Sendable, Equatable {
    var content: [UInt8]
}

enum FrameError: Error, Sendable, Equatable {
    case tooLong(limit: Int)
    case containsTerminator
}

extension WireFraming {
    /// What ends a line; nil where lines are not told apart by their end.
    var lineEnd: [UInt8]? {
        switch self {
        case .crlf: [13, 10]
        case .lf: [10]
        case .cr: [13]
        case .nul: [0]
        case .u8, .u16, .u32, .u64, .varint, .none: nil
        }
    }
}

struct FrameEncoder {
    var framing: WireFraming

    func encode(_ message: [UInt8]) throws(FrameError) -> [UInt8] {
        guard let lineEnd = framing.lineEnd else { return message }
        if message.contains(lineEnd) { throw .containsTerminator }
        return message + lineEnd
    }
}

/// Lines out of bytes, however they were cut; looks at each byte once.
struct FrameDecoder {
    private let lineEnd: [UInt8]?
    private let limit: Int?
    private var bytes: [UInt8] = []
    private var head = 0
    private var scanned = 0

    init(framing: WireFraming, limit: Int?) {
        lineEnd = framing.lineEnd
        self.limit = limit
    }

    mutating func append(_ more: [UInt8]) {
        bytes.removeSubrange(..<head)
        scanned -= head
        head = 0
        bytes += more
    }

    mutating func next() throws(FrameError) -> Frame? {
        guard let lineEnd, let last = lineEnd.last else {
            defer { head = bytes.count }
            return head == bytes.count ? nil : Frame(content: Array(bytes[head...]))
        }
        while scanned < bytes.count {
            let byte = bytes[scanned]
            scanned += 1
            let end = scanned - lineEnd.count
            guard byte == last, end >= head, bytes[end..<scanned].elementsEqual(lineEnd) else { continue }
            if let limit, end - head > limit { throw .tooLong(limit: limit) }
            defer { head = scanned }
            return Frame(content: Array(bytes[head..<end]))
        }
        // A part of the terminator may stand at the end, and does not count.
        if let limit, bytes.count - head - (lineEnd.count - 1) > limit { throw .tooLong(limit: limit) }
        return nil
    }

    /// The bytes that are no whole message.
    mutating func finish() -> [UInt8] {
        Array(bytes[head...])
    }
}
