import CShims
import Glibc

/// A packet socket (packet(7)) that reads and writes complete frames of one interface.
package final class FrameSocket: Sendable {
    package let descriptor: Int32

    /// Creates a socket for an interface in the calling thread's network namespace.
    ///
    /// - Parameter receives: `false` for a socket that only sends.
    package init(interface: String, receives: Bool) throws(SystemError) {
        // The capability CAP_NET_RAW is effective only while this socket or a capture is being opened.
        let wasEffective = probe_set_capability(PROBE_CAP_NET_RAW, 1)
        descriptor = probe_open_frames(interface, receives ? 1 : 0)
        let error = descriptor < 0 ? SystemError("socket(AF_PACKET)") : nil
        if wasEffective == 0 { _ = probe_set_capability(PROBE_CAP_NET_RAW, 0) }
        if let error { throw error }
    }

    deinit { close(descriptor) }

    /// Writes a frame. If the socket's buffer is full, waits briefly.
    ///
    /// - Returns: whether the frame was accepted.
    package func send(_ frame: [UInt8]) -> Bool {
        for _ in 0..<1000 {
            if probe_send_frame(descriptor, frame, frame.count) == 0 { return true }
            guard errno == EAGAIN || errno == ENOBUFS else { return false }
            sched_yield()
        }
        return false
    }

    /// The number of received frames that were dropped for lack of buffer space since the last call.
    package var dropped: Int { Int(probe_dropped_frames(descriptor)) }
}

/// A buffer for the frames that one read returns. Confined to one thread.
package struct FrameBuffer: ~Copyable {
    private static let stride = 2048
    private static let most = 64
    private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * most)
    private var lengths = [UInt32](repeating: 0, count: most)

    package init() {}

    deinit { bytes.deallocate() }

    /// Reads the available frames, up to 64.
    ///
    /// - Returns: the number of frames read.
    package mutating func read(_ socket: FrameSocket) -> Int {
        max(0, Int(probe_receive_frames(socket.descriptor, bytes, UInt32(Self.stride), &lengths, Int32(Self.most))))
    }

    /// Returns one of the frames that were read.
    package func frame(_ index: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: bytes + index * Self.stride, count: min(Int(lengths[index]), Self.stride)))
    }
}
