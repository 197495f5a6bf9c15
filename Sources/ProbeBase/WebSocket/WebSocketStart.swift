/// The position at which the WebSocket frames of one direction begin: after the opening handshake (RFC 6455,
/// section 4), or at the first byte of a stream that has no handshake. Finding the position never traps.
package enum WebSocketStart: Equatable, Sendable {
    case frames(at: Int)
    /// The head of a request or response is incomplete, or there are too few bytes to determine whether a head follows.
    case undecided
    /// The last response does not have the status 101, and no head of another response follows it. The value is the
    /// response's first line.
    case refused([UInt8])

    /// Finds the position of the first frame.
    ///
    /// - Parameter bytes: the stream from its first byte.
    package init(_ bytes: Span<UInt8>) {
        var offset = 0
        while true {
            switch Self.head(in: bytes, at: offset) {
            case .none: self = .frames(at: offset)
            case .undecided: self = .undecided
            case .request(let end):
                offset = end
                continue
            case .answer(let end):
                let status = Self.status(in: bytes, at: offset)
                if status == 101 {
                    self = .frames(at: end)
                    return
                }
                // A final response is followed by its content, whose length is in the head.
                let isInterim = status.map { 100...199 ~= $0 } ?? false
                let next =
                    isInterim
                    ? end
                    : end.addingReportingOverflow(Self.contentLength(in: bytes, offset..<end))
                        .partialValue
                if next >= end, next < bytes.count, !Self.isOther(bytes, at: next) {
                    offset = next
                    continue
                }
                self = isInterim && next == bytes.count ? .undecided : .refused(Self.firstLine(in: bytes, at: offset))
            }
            return
        }
    }

    // MARK: Heads of requests and responses

    private enum Head {
        case none, undecided
        case request(end: Int)
        case answer(end: Int)
    }

    private static let answerStart = Array("HTTP/".utf8)
    /// The length of the longest method: `UPDATEREDIRECTREF` has 17 letters.
    private static let longestMethod = 20

    private static func head(in bytes: Span<UInt8>, at offset: Int) -> Head {
        var length = 0
        while length < longestMethod, offset + length < bytes.count, 65...90 ~= bytes[offset + length] { length += 1 }
        guard length > 0 else { return .none }
        if offset + length == bytes.count { return .undecided }
        let following = bytes[offset + length]
        if following == 32 { return end(in: bytes, from: offset).map { .request(end: $0) } ?? .undecided }
        guard following == 47, length == 4, starts(bytes, at: offset, with: answerStart) else { return .none }
        return end(in: bytes, from: offset).map { .answer(end: $0) } ?? .undecided
    }

    /// Returns whether the bytes at an offset are certainly not the head of a request or response.
    private static func isOther(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
        if case .none = head(in: bytes, at: offset) { true } else { false }
    }

    private static func starts(_ bytes: Span<UInt8>, at offset: Int, with wanted: [UInt8]) -> Bool {
        guard wanted.count <= bytes.count - offset else { return false }
        return wanted.indices.allSatisfy { bytes[offset + $0] == wanted[$0] }
    }

    /// Returns the offset after the empty line that ends a head.
    private static func end(in bytes: Span<UInt8>, from offset: Int) -> Int? {
        var index = offset
        while let found = bytes.firstIndex(of: 13, from: index) {
            if starts(bytes, at: found, with: WebSocketHandshake.end) { return found + WebSocketHandshake.end.count }
            index = found + 1
        }
        return nil
    }

    private static func firstLine(in bytes: Span<UInt8>, at offset: Int) -> [UInt8] {
        let end = bytes.firstIndex(of: 13, from: offset) ?? bytes.count
        return (offset..<end).map { bytes[$0] }
    }

    /// Returns the status code: the three digits after the first space.
    private static func status(in bytes: Span<UInt8>, at offset: Int) -> Int? {
        let words = firstLine(in: bytes, at: offset).split(separator: 32)
        guard words.count > 1, words[1].count == 3 else { return nil }
        return Int(String(decoding: words[1], as: UTF8.self))
    }

    /// Returns the length of a response's content; 0 if the head does not specify a length.
    private static func contentLength(in bytes: Span<UInt8>, _ head: Range<Int>) -> Int {
        let text = String(decoding: head.map { bytes[$0] }, as: UTF8.self)
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "content-length" else {
                continue
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return Int(value.prefix { $0 != " " && $0 != "\t" }).flatMap { $0 >= 0 ? $0 : nil } ?? 0
        }
        return 0
    }
}
