import ProbeBase
import CPcap
import CShims
import Glibc
import ProbeSystem
import ProbeWire
import Synchronization

/// The thread that owns the libpcap handle. The thread reads packets, delivers them to subscriptions, and completes
/// fences.
///
/// After `start` has handed an instance over to its thread, only that thread accesses the instance.
final class CaptureThread {
    /// The maximum number of packets that are delivered before fences are completed and requests are handled.
    private static let batch: Int32 = 2048

    private let core: CaptureCore
    private let handle: PcapHandle
    private let nanoseconds: Bool
    /// The completions of the fences whose markers were in the current batch.
    private var passed: [CaptureCore.Completion] = []

    init(handle: consuming PcapHandle, core: CaptureCore) {
        nanoseconds = handle.nanoseconds
        self.handle = handle
        self.core = core
    }

    /// Starts the thread. The thread ends when a stop is requested through `core`, or when the handle fails.
    static func start(_ reader: CaptureThread) throws(CaptureError) -> WorkerThread {
        let handed = Handover(reader)
        do throws(SystemError) {
            return try WorkerThread("capture", signals: .blocked) { handed.reader.run() }
        } catch {
            throw .system(call: error.call, code: error.code)
        }
    }

    /// Passes the reader to its thread. `@unchecked Sendable`: the starting thread no longer accesses the reader.
    private final class Handover: @unchecked Sendable {
        let reader: CaptureThread

        init(_ reader: CaptureThread) { self.reader = reader }
    }

    private func run() {
        do throws(CaptureError) {
            while let due = nextWork() {
                for completion in due.expired { completion(.timedOut) }
                for sequence in due.resend { try core.markers.sendMarker(sequence) }
                if due.fill { try core.markers.sendFillers() }
                if try readBatch() == 0 { try wait(until: due.next) }
            }
            core.end(.closed)
        } catch {
            core.end(error)
        }
    }

    /// Returns the work that is due for the fences; `nil` if the thread must stop.
    private func nextWork() -> FenceLedger<CaptureCore.Completion>.Due? {
        core.state.withLock { state in
            state.stopRequested ? nil : state.fences.due(now: probe_monotonic_ns())
        }
    }

    private func readBatch() throws(CaptureError) -> Int {
        let count = try handle.dispatch(
            limit: Self.batch,
            to: { context, header, bytes in
                guard let context, let header, let bytes else { return }
                let length = Int(header.pointee.caplen)
                Unmanaged<CaptureThread>.fromOpaque(UnsafeRawPointer(context)).takeUnretainedValue()
                    .visit(header.pointee, UnsafeBufferPointer(start: bytes, count: length))
            },
            context: Unmanaged.passUnretained(self).toOpaque())
        guard count > 0 else { return 0 }
        let statistics = try handle.statistics()
        core.state.withLock { $0.statistics = statistics }
        let completions = passed
        passed = []
        for completion in completions { completion(.caughtUp(dropped: statistics.dropped)) }
        return count
    }

    private func visit(_ header: pcap_pkthdr, _ frame: UnsafeBufferPointer<UInt8>) {
        let packet: DecodedPacket
        do throws(PacketError) {
            packet = try PacketDecoder.decode(frame.span, linkType: .ethernet, originalLength: Int(header.len))
        } catch {
            // A packet that can't be decoded is ignored. Such a packet does not belong to a connection, because the
            // kernel never sends one.
            return
        }
        switch packet {
        case .tcp(let segment):
            let time = time(of: header)
            core.deliver(
                segment, CapturedPacket(time: time, originalLength: Int(header.len), bytes: [UInt8](frame)), time: time)
        case .udp(let datagram):
            let payload = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: frame[datagram.payload]))
            guard datagram.destination.port == core.markers.port,
                let sequence = core.markers.sequence(ofPayload: payload),
                let completion = core.state.withLock({ $0.fences.seen(sequence) })
            else { return }
            passed.append(completion)
        case .fragment, .otherIP, .notIP, .icmp, .other:
            break
        }
    }

    /// Returns the time at which a packet was captured, in nanoseconds since 1970-01-01 UTC. With nanosecond precision,
    /// libpcap stores nanoseconds in `tv_usec`.
    private func time(of header: pcap_pkthdr) -> UInt64 {
        let fraction = UInt64(clamping: header.ts.tv_usec) &* (nanoseconds ? 1 : 1000)
        return UInt64(clamping: header.ts.tv_sec) &* 1_000_000_000 &+ fraction
    }

    /// Sleeps until the kernel releases a block, another thread wakes this thread, or the deadline passes.
    private func wait(until deadline: Int64?) throws(CaptureError) {
        var timeout: Int32 = -1
        if let deadline {
            let left = max(0, deadline - probe_monotonic_ns())
            timeout = Int32(clamping: (left + 999_999) / 1_000_000)
        }
        var sources = [
            pollfd(fd: handle.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: core.wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&sources, 2, timeout) >= 0 || errno == EINTR else {
            throw .system(call: "poll", code: errno)
        }
        // The socket has an error only if its interface was removed or is down. libpcap would hide the error and
        // continue.
        guard Int32(sources[0].revents) & ~POLLIN == 0 else { throw .interfaceDown(handle.interface) }
        if sources[1].revents != 0 { core.clearWake() }
    }
}
