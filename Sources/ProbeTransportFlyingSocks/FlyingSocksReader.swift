import FlyingSocks
import ProbeTransport

/// Reads messages from a socket: bytes with `bytes.nextBuffer`, lengths and payloads with `read(bytes:)`.
///
/// FlyingSocks can't read lines. A line is collected byte by byte from the socket's sequence `bytes` up to its
/// terminator, as in FlyingFox's own HTTP decoder.
struct FlyingSocksReader {
    private enum Kind: Sendable {
        case line(terminator: [UInt8])
        case counted(width: Int)
        case data
    }

    private let kind: Kind
    private var bytes: AsyncSocketReadSequence
    private let socket: AsyncSocket
    /// The bytes of an incomplete line. The bytes of an incomplete message with a length prefix are lost in
    /// `read(bytes:)`.
    private(set) var leftover: [UInt8] = []

    init(_ socket: AsyncSocket, framing: FlyingSocksFraming) {
        self.socket = socket
        bytes = socket.bytes
        kind =
            switch framing {
            case .line(let terminator): .line(terminator: terminator)
            case .counted(let width): .counted(width: width)
            case .data: .data
            }
    }

    /// Returns the next message.
    ///
    /// - Throws: the error that FlyingSocks throws, which is `SocketError.disconnected` at the end of the stream.
    mutating func next() async throws -> TransportEvent? {
        switch kind {
        case .line(let terminator):
            while let byte = try await bytes.next() {
                leftover.append(byte)
                if leftover.suffix(terminator.count) == terminator[...] {
                    defer { leftover = [] }
                    return .line(leftover.dropLast(terminator.count))
                }
            }
            return nil
        case .counted(let width):
            let length = try await socket.read(bytes: width).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
            guard let count = Int(exactly: length) else {
                throw FlyingSocksFailure(.tooLong, "a length of \(length) bytes")
            }
            return .message(try await socket.read(bytes: count))
        case .data:
            return try await bytes.nextBuffer(suggested: 4096).map { .data($0) }
        }
    }
}
