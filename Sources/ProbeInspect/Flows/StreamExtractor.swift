import Glibc
package import ProbeWire

/// Writes each direction of each flow that it is shown into a file of its own: `flow-0-client.bin` has what the client sent, its
/// bytes in order. Gaps are left out; `flow-0-client.gaps.txt` lists them. A direction without a byte has no file.
///
/// Files are appended to from buffers of bounded size and are never open between two writes, so that any number of flows can be
/// extracted.
package final class StreamExtractor: InspectionObserver {
    /// A file that could not be written.
    package struct Failure: Error, Sendable, Hashable {
        package var path: String
        /// The system's words.
        package var reason: String
    }

    private struct Key: Hashable {
        var flow: Int
        var side: ConversationSide
    }

    private struct Stream {
        var buffer: [UInt8] = []
        var gaps = ""
        /// Bytes in the file and in the buffer.
        var length: Int64 = 0
    }

    private let folder: String
    private var streams: [Key: Stream] = [:]
    private var begun: Set<String> = []
    private var buffered = 0
    /// The first one; nothing is written after it.
    package private(set) var failure: Failure?
    /// Files with bytes of streams.
    package private(set) var fileCount = 0
    package private(set) var byteCount: Int64 = 0
    package private(set) var gapCount = 0

    private static let bufferSize = 1 << 16
    private static let allBuffers = 8 << 20

    /// - Parameter folder: is there already.
    package init(folder: String) {
        self.folder = folder
    }

    package func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {}

    package func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        guard failure == nil else { return }
        let key = Key(flow: conversation.number, side: side)
        switch part.content {
        case .bytes(let bytes):
            streams[key, default: Stream()].buffer += bytes
            streams[key, default: Stream()].length += Int64(bytes.count)
            buffered += bytes.count
            byteCount += Int64(bytes.count)
            if (streams[key]?.buffer.count ?? 0) >= Self.bufferSize { flush(key) }
            if buffered >= Self.allBuffers { for key in streams.keys { flush(key) } }
        case .gap(let gap):
            gapCount += 1
            let place = streams[key]?.length ?? 0
            streams[key, default: Stream()].gaps +=
                "\(gap.offset)\t\(gap.length)\t\(place)\t\(GapText.reason(gap.cause))\n"
        }
    }

    package func end(of conversation: Conversation) {
        for side in ConversationSide.allCases {
            let key = Key(flow: conversation.number, side: side)
            flush(key)
            guard let stream = streams.removeValue(forKey: key), !stream.gaps.isEmpty else { continue }
            let title = "# offset in the stream, missing bytes, place in the file, why\n"
            append(Array((title + stream.gaps).utf8), to: "\(name(key)).gaps.txt")
        }
    }

    private func name(_ key: Key) -> String { "\(folder)/flow-\(key.flow)-\(key.side.word)" }

    private func flush(_ key: Key) {
        guard let bytes = streams[key]?.buffer, !bytes.isEmpty else { return }
        let path = name(key) + ".bin"
        if !begun.contains(path) { fileCount += 1 }
        append(bytes, to: path)
        streams[key]?.buffer = []
        buffered -= bytes.count
    }

    /// The first time anew, whatever was there; a symbolic link is not followed.
    private func append(_ bytes: [UInt8], to path: String) {
        guard failure == nil else { return }
        let isNew = begun.insert(path).inserted
        let mode = isNew ? O_TRUNC | O_CREAT : O_APPEND
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | mode, 0o644)
        guard descriptor >= 0 else {
            failure = Failure(path: path, reason: String(cString: strerror(errno)))
            return
        }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                raw.baseAddress.map { write(descriptor, $0 + written, bytes.count - written) } ?? 0
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                failure = Failure(path: path, reason: String(cString: strerror(count == 0 ? ENOSPC : errno)))
                return
            }
        }
    }
}
