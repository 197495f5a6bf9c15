package import ProbeBase
import Glibc
package import ProbeSystem
package import ProbeWire

/// Writes each direction of each flow into a file. For example, `flow-0-client.bin` contains the bytes that the client
/// of flow 0 sent, in order. Gaps are omitted from the file and listed in `flow-0-client.gaps.txt`. No file is created
/// for a direction without bytes.
///
/// Files are written from buffers of limited size, and are not kept open between two writes, so that any number of
/// flows can be extracted. Each file is created relative to the open folder. Its identity is checked before each
/// further write, so that nothing is written to a link or a pipe with which another user has replaced the file.
package final class StreamExtractor: InspectionObserver {
    /// A file that could not be written.
    package struct Failure: Error, Sendable, Hashable {
        package var path: String
        /// The system's error message.
        package var reason: String
    }

    private struct Key: Hashable {
        var flow: Int
        var side: ConversationSide
    }

    private struct Stream {
        var buffer: [UInt8] = []
        var gaps = ""
        /// The number of bytes in the file and in the buffer together.
        var length: Int64 = 0
    }

    private let folder: Folder
    /// The path of the folder as the user wrote it.
    private let path: String
    private var streams: [Key: Stream] = [:]
    /// The identities of the files that this extraction has created, by name.
    private var begun: [String: FileStatus.Identity] = [:]
    private var buffered = 0
    /// The first failure. Nothing is written after a failure.
    package private(set) var failure: Failure?
    /// The number of files that contain the bytes of a stream.
    package private(set) var fileCount = 0
    package private(set) var byteCount: Int64 = 0
    package private(set) var gapCount = 0

    private static let bufferSize = 1 << 16
    private static let allBuffers = 8 << 20

    /// Creates an extractor that writes to a folder.
    ///
    /// - Parameter path: the path of the folder, for messages.
    package init(folder: Folder, path: String) {
        self.folder = folder
        self.path = path
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {}

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
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
            let title = "# offset in the stream, missing bytes, offset in the file, reason\n"
            append(Array((title + stream.gaps).utf8), to: "\(name(key)).gaps.txt")
        }
    }

    private func name(_ key: Key) -> String { "flow-\(key.flow)-\(key.side.word)" }

    private func flush(_ key: Key) {
        guard let bytes = streams[key]?.buffer, !bytes.isEmpty else { return }
        let file = name(key) + ".bin"
        if begun[file] == nil { fileCount += 1 }
        append(bytes, to: file)
        streams[key]?.buffer = []
        buffered -= bytes.count
    }

    /// Appends to a file. The first call for a name creates the file and replaces any existing file.
    private func append(_ bytes: [UInt8], to name: String) {
        guard failure == nil else { return }
        do throws(SystemError) {
            let file = try open(name)
            if let code = SmallFile.writeAll(bytes, to: file.raw) { throw SystemError("write", code: code) }
        } catch {
            failure = Failure(path: "\(path)/\(name)", reason: error.reason)
        }
    }

    private func open(_ name: String) throws(SystemError) -> OwnedDescriptor {
        let known = begun[name]
        if known == nil, unlinkat(folder.raw, name, 0) < 0, errno != ENOENT { throw SystemError("unlink") }
        let mode = known == nil ? O_CREAT | O_EXCL : O_APPEND
        let raw = openat(folder.raw, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | mode, 0o644)
        guard raw >= 0 else { throw SystemError("open") }
        let file = OwnedDescriptor(raw)
        guard let identity = FileStatus(of: raw)?.identity, known == nil || known == identity else {
            throw SystemError("open", code: ESTALE)
        }
        begun[name] = identity
        return file
    }
}
