import ProbeBase

/// The base protocol of language servers, in which each message is preceded by a header that contains its length.
///
/// Accepts bytes in pieces of any size, and never traps. Memory is limited by ``largestHeader`` and ``largestMessage``.
package struct MessageFraming: Sendable {
    /// The reason why the received bytes are not a sequence of messages. The bytes that follow can't be read either.
    package struct Failure: Error, Equatable, Sendable {
        /// A clause that states what is wrong and what is expected.
        package var text: String
    }

    /// The maximum size of a header, including the empty line that ends it, in bytes.
    package static let largestHeader = 8 << 10
    /// The maximum size of a message, in bytes: enough for a script of the maximum size with escapes.
    package static let largestMessage = 192 << 20

    private var bytes: [UInt8] = []
    /// The number of bytes that have been consumed.
    private var start = 0
    /// The offset at which the search for the end of the header continues.
    private var searched = 0
    /// The length stated in the header; `nil` until the header is complete.
    private var length: Int?

    package init() {}

    /// Whether part of a message, but not all of it, has been received.
    package var isInside: Bool { length != nil || start < bytes.count }

    package mutating func append(_ chunk: Span<UInt8>) {
        if start > 0, start == bytes.count || start > 1 << 16 {
            bytes.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Returns the next complete message; `nil` if no complete message has been received.
    ///
    /// - Throws: an error if the header is invalid.
    package mutating func next() throws(Failure) -> [UInt8]? {
        if length == nil {
            guard let end = try endOfHeader() else { return nil }
            length = try Self.length(in: bytes[start..<end])
            start = end
        }
        guard let count = length, bytes.count - start >= count else { return nil }
        let message = Array(bytes[start..<start + count])
        start += count
        searched = start
        length = nil
        return message
    }

    /// Returns a message preceded by its header.
    package static func framed(_ message: [UInt8]) -> [UInt8] {
        Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
    }

    // MARK: The header

    /// Returns the offset after the empty line that ends the header.
    private mutating func endOfHeader() throws(Failure) -> Int? {
        var index = max(start, searched)
        while index < bytes.count {
            guard index - start < Self.largestHeader else { throw Failure(text: "the header is longer than 8 KiB") }
            let byte = bytes[index]
            if byte == 0x0A {
                guard index > start, bytes[index - 1] == 0x0D else {
                    throw Failure(
                        text: "a header line ends without a carriage return: \(Self.shown(bytes[start..<index]))")
                }
                if index - start == 1 || index - start > 2 && bytes[index - 2] == 0x0A {
                    searched = index + 1
                    return index + 1
                }
            } else if byte >= 0x7F || byte < 0x20 && byte != 0x0D && byte != 0x09 {
                throw Failure(
                    text: "the header contains a byte that is not ASCII text: \(Self.shown(bytes[start...index]))")
            }
            index += 1
        }
        searched = index
        return nil
    }

    private static func length(in header: ArraySlice<UInt8>) throws(Failure) -> Int {
        var found: Int?
        for line in header.split(separator: 0x0A).map({ $0.dropLast() }) where !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw Failure(text: "\(shown(line)) is not a header field; expected `Content-Length: N`")
            }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = trimmed(line[(colon + 1)...])
            if name == "content-length" {
                guard !value.isEmpty, value.allSatisfy({ (48...57).contains($0) }),
                    let number = Int(String(decoding: value, as: UTF8.self)), found == nil || found == number
                else { throw Failure(text: "\(shown(line)) is not a valid message length") }
                guard number <= largestMessage else {
                    throw Failure(text: "a message length of \(number) bytes exceeds the limit of 192 MiB")
                }
                found = number
            } else if name == "content-type" {
                let text = String(decoding: value, as: UTF8.self).lowercased().replacing("\"", with: "")
                guard let charset = text.split(separator: "charset=").dropFirst().first else { continue }
                guard charset.hasPrefix("utf-8") || charset.hasPrefix("utf8") else {
                    throw Failure(text: "\(shown(line)) is not supported; messages must be UTF-8")
                }
            }
        }
        guard let found else {
            throw Failure(text: "the header has no length; expected `Content-Length: N`")
        }
        return found
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        return value
    }

    /// Returns the beginning of the text, escaped for display in a terminal.
    private static func shown(_ text: some Collection<UInt8>) -> String {
        "`\(Escaped.text(text.prefix(60)))\(text.count > 60 ? "…" : "")`"
    }
}
