import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeSystem
import ProbeWire

/// Writes the packets of a proxy's connections to a file.
final class ProxyRecord {
    private let capture: Capture
    private let subscription: PortSubscription
    private let file: PacketFile
    private let began = UInt64(clamping: probe_realtime_ns())
    private var count = 0
    private var failure: String?

    /// Opens the capture and the packet file.
    ///
    /// - Throws: the exit code, after printing the reason why packets can't be captured or written.
    init(path: String, executable: String, listener: SocketAddress, target: SocketAddress) throws {
        guard let ends = listener.endpoint, target.isLoopback, listener.isLoopback else {
            throw Failure.invalidUsage("--write: only packets of the loopback interface can be captured")
        }
        do throws(CaptureError) {
            capture = try Capture.open(
                ports: CapturePorts(extra: [listener.port, target.port]), bufferSize: Capture.largeBufferSize)
            subscription = capture.subscribe()
            try subscription.add(.listener(EndpointPattern(ends)), since: began)
        } catch {
            Console.standardError.write("error: \(Escaped.text(error.message(executable: executable)))\n")
            throw ExitCode(3)
        }
        let linkType = LinkType(rawValue: UInt32(bitPattern: capture.linkType))
        file = try PacketFile(path: path, interface: "lo", linkType: linkType)
        let waiter = FenceWaiter()
        capture.fence(timeout: .seconds(5)) { waiter.finish($0) }
        if !waiter.wait() { failure = "the capture does not deliver packets" }
    }

    /// Adds an outgoing connection to the capture, before the connection is established.
    func add(_ local: SocketAddress, _ target: SocketAddress) {
        guard let local = local.endpoint, let target = target.endpoint else { return }
        do throws(CaptureError) {
            try subscription.add(.client(local, peer: target), since: WallClock.now)
        } catch {
            note(error.message(executable: executablePath()))
        }
    }

    /// Writes the packets captured so far.
    func takePackets() {
        let packets = subscription.take()
        count += packets.count
        if !packets.isEmpty, let failure = file.append(packets) { note(failure) }
        if subscription.overflowed { note("packets arrived faster than they could be stored: some are missing") }
    }

    private func note(_ text: String) {
        if failure == nil { failure = text }
    }

    /// Writes the remaining packets and completes the file.
    ///
    /// - Returns: whether the file is complete.
    func finish() -> Bool {
        let waiter = FenceWaiter()
        capture.fence(timeout: .seconds(5)) { waiter.finish($0) }
        if !waiter.wait() { note("the capture did not deliver all packets in time: some may be missing") }
        takePackets()
        let dropped = capture.statistics().dropped
        let statistics = PcapNGWriter.Statistics(
            start: began, end: UInt64(clamping: probe_realtime_ns()), received: UInt64(clamping: count + dropped),
            dropped: UInt64(clamping: dropped))
        if let failure = file.finish(statistics) { note(failure) }
        if dropped > 0 {
            Console.standardError.write("note: the capture dropped \(ByteText.count(dropped, "packet"))\n")
        }
        capture.leaveClosingToKernel()
        guard let failure else { return true }
        Console.standardError.write("error: --write: \(failure)\n")
        return false
    }
}
