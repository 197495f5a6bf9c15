import ProbeBase
import ArgumentParser
import CShims
import Glibc
import ProbeCapture
import ProbeEvents
import ProbeInspect
import ProbeReport
import ProbeWire

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the TCP packets of the loopback interface as they arrive.",
        discussion: """
            Each packet is a rung of a ladder, with the client on the left and the server on the right. On Ctrl-C, prints a table of the
            flows and the number of packets that the capture dropped, and exits. Only the loopback interface can be watched; for other
            interfaces, capture with dumpcap or tcpdump, and use `tcpprobe inspect`.

            EXAMPLES:
              tcpprobe watch
              tcpprobe watch --port 8080 --write traffic.pcapng
              tcpprobe watch --port 5432 --diagnose
              tcpprobe watch --bpf 'tcp[tcpflags] & tcp-rst != 0' --json
            """)

    @Option(help: ArgumentHelp("Loopback interface to watch.", valueName: "name"))
    var interface = "lo"

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Show only packets from or to this port. May be repeated.", valueName: "port"))
    var port: [UInt16] = []

    @Option(help: ArgumentHelp("Also write the packets to a pcapng file.", valueName: "file"), completion: .file())
    var write: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Width of a line, in columns; default: that of the terminal, or 120.", valueName: "columns"))
    var width: Int?

    @OptionGroup var packets: PacketFilterOption

    @Flag(help: "Write one JSON object per line, like `inspect --json --flow`, and finally the flows and a summary.")
    var json = false

    @Flag(
        help:
            "Instead of the packets, show what is wrong with each connection: a certain finding as soon as it is certain, a likely one when the connection ends, or on Ctrl-C. `tcpprobe diagnose --help` describes findings."
    )
    var diagnose = false

    @Flag(help: "Show the connections of all users. Only root may see them; for root, this is the default.")
    var all = false

    func validate() throws {
        if all && getuid() != 0 {
            throw ValidationError("--all: only root may see the connections of all users")
        }
        if let width, !(40...10_000).contains(width) {
            throw ValidationError("--width \(width): expected a number from 40 to 10000")
        }
        if port.contains(0) { throw ValidationError("--port 0: no packet has port 0") }
    }

    func run() throws {
        let packetFilter = try packets.filter()
        let interrupts = probe_interrupt_descriptor()
        let isRoot = getuid() == 0
        if !isRoot && !SocketOwners.canBeRead {
            Console.standardError.write(
                "error: can't determine the owners of connections: /proc/net/tcp can't be read; run as root to watch "
                    + "all connections\n"
            )
            throw ExitCode(3)
        }
        let capture = try open()
        let file = try write.map { try PacketFile(path: $0, interface: interface, linkType: linkType(capture)) }
        var watch = Watch(
            capture: capture, interface: interface, file: file, owners: isRoot ? nil : SocketOwners(user: getuid()),
            packetFilter: packetFilter, width: width ?? Console.standardOutput.width, isJSON: json,
            diagnoses: diagnose)
        let what = port.isEmpty ? "all ports" : "port \(port.map(String.init).joined(separator: ", "))"
        Console.standardError.write(
            "watching \(interface), \(what)\(isRoot ? "" : ", connections of your own sockets"); press Ctrl-C to stop\n"
        )
        let code = watch.run(interrupts)
        capture.leaveClosingToKernel()
        throw ExitCode(code)
    }

    private func linkType(_ capture: Capture) -> LinkType { LinkType(rawValue: UInt32(bitPattern: capture.linkType)) }

    private func open() throws -> Capture {
        let ports = port.isEmpty ? CapturePorts(range: 1...UInt16.max) : CapturePorts(extra: port)
        do throws(CaptureError) {
            return try Capture.open(interface: interface, ports: ports)
        } catch {
            var text = Escaped.text(error.message(executable: executablePath()))
            if case .notLoopback = error { text += "; capture it with dumpcap or tcpdump, then use `tcpprobe inspect`" }
            Console.standardError.write("error: \(text)\n")
            switch error {
            case .notLoopback, .noSuchInterface: throw ExitCode(2)
            default: throw ExitCode(3)
            }
        }
    }
}

/// The loop of `watch`, which takes captured packets, shows them and writes them to a file, until it is interrupted.
private struct Watch {
    private let capture: Capture
    private let subscription: PortSubscription
    private let file: PacketFile?
    /// The owners of connections; `nil` if the packets of all users are shown.
    private var owners: SocketOwners?
    private let output = OutputBuffer()
    private var pass: InspectionPass
    private let interface: String
    private let packetFilter: PacketFilter?
    private let width: Int?
    private let isJSON: Bool
    private let paint: Paint
    private var count = 0
    /// The findings that have been shown; `nil` if the packets are shown instead.
    private var findings: LiveFindings?
    private let linkType: LinkType
    private let began = UInt64(clamping: probe_realtime_ns())

    /// The maximum delay before a packet is shown, in milliseconds. A fence at this interval makes the kernel deliver
    /// the packets that it has buffered.
    private static let interval: Int32 = 100

    init(
        capture: Capture, interface: String, file: PacketFile?, owners: SocketOwners?, packetFilter: PacketFilter?,
        width: Int?, isJSON: Bool, diagnoses: Bool
    ) {
        self.capture = capture
        self.interface = interface
        self.packetFilter = packetFilter
        self.width = width
        self.isJSON = isJSON
        paint = Paint(isOn: Console.standardOutput.usesColor && !isJSON)
        self.file = file
        self.owners = owners
        subscription = capture.subscribeToAll()
        linkType = LinkType(rawValue: UInt32(bitPattern: capture.linkType))
        let write: TextOutput = { [output] in output.write($0) }
        let observer: (any InspectionObserver)? =
            if diagnoses {
                nil
            } else if isJSON {
                JSONObserver(.packets, file: interface, output: write)
            } else {
                WatchObserver(width: width ?? LadderText.plainWidth, paint: paint, output: write)
            }
        pass = InspectionPass(
            limits: .passing, filter: ConnectionFilter(), observer: observer,
            diagnosing: diagnoses ? .all : .none)
        if diagnoses {
            let text = DiagnosisText(
                width: width ?? LadderText.plainWidth, paint: paint, isVerbose: false, isAbsolute: false)
            findings = LiveFindings { flow, finding in
                write(isJSON ? DiagnosisJSON.line(finding, of: flow, file: interface) : text.line(finding, of: flow))
            }
        }
    }

    /// Runs the loop.
    ///
    /// - Returns: the exit code.
    mutating func run(_ interrupts: Int32) -> Int32 {
        var code: Int32 = 0
        while code == 0 {
            var poller = pollfd(fd: interrupts, events: Int16(POLLIN), revents: 0)
            poll(&poller, 1, Self.interval)
            let signal = probe_next_signal(interrupts)
            if signal > 0 { code = 128 + Int32(signal) }
            if let failure = takePackets() {
                Console.standardError.write("error: \(failure)\n")
                code = code == 0 ? 3 : code
            }
            if Console.standardOutput.isReaderGone, code == 0 { break }
        }
        return finish() ? code : 3
    }

    /// Takes and shows the packets captured so far.
    ///
    /// - Returns: the reason why the loop can't continue; `nil` if it can.
    private mutating func takePackets() -> String? {
        let waiter = FenceWaiter()
        capture.fence(timeout: .seconds(2)) { waiter.finish($0) }
        let isCaughtUp = waiter.wait()
        // The tables are read both before and after the packets are taken, because connections may end or begin in the
        // meantime.
        owners?.refresh()
        let taken = subscription.take()
        if !taken.isEmpty { owners?.readMore() }
        let packets = taken.filter { [linkType, packetFilter] packet in
            if let packetFilter,
                !packetFilter.matches(packet.bytes.span, linkType: linkType, originalLength: packet.originalLength)
            {
                return false
            }
            guard owners != nil else { return true }
            guard let segment = Self.segment(of: packet, linkType) else { return false }
            return owners?.mayShow(segment) ?? false
        }
        for packet in packets {
            pass.take(
                CaptureRecord(
                    index: count, time: packet.time, originalLength: packet.originalLength, linkType: linkType),
                packet.bytes.span)
            count += 1
        }
        findings?.update(pass, at: UInt64(clamping: probe_realtime_ns()))
        output.flush()
        if let failure = file?.append(packets) { return failure }
        // On an overloaded machine, packets are delivered later. A capture that has ended delivers no more packets.
        return isCaughtUp || !isEnded ? nil : "the capture has ended: the interface went down"
    }

    /// Returns the segment of a packet; `nil` if the packet has no complete TCP header.
    private static func segment(of packet: CapturedPacket, _ linkType: LinkType) -> DecodedTCP? {
        do throws(PacketError) {
            guard case .tcp(let segment) = try packet.decoded(linkType: linkType) else { return nil }
            return segment
        } catch {
            return nil
        }
    }

    private var isEnded: Bool {
        let waiter = FenceWaiter()
        capture.fence(timeout: .milliseconds(500)) { waiter.finish($0) }
        return !waiter.wait()
    }

    /// Completes the output.
    ///
    /// - Returns: whether the packet file is complete.
    private mutating func finish() -> Bool {
        findings?.finish(pass, at: UInt64(clamping: probe_realtime_ns()))
        pass.finish()
        let dropped = capture.statistics().dropped
        if isJSON { writeJSON(dropped) } else { writeTable(dropped) }
        output.flush()
        let statistics = PcapNGWriter.Statistics(
            start: began, end: UInt64(clamping: probe_realtime_ns()), received: UInt64(clamping: count + dropped),
            dropped: UInt64(clamping: dropped))
        guard let failure = file?.finish(statistics) else { return true }
        Console.standardError.write("error: \(failure)\n")
        return false
    }

    private func writeTable(_ dropped: Int) {
        output.write("\n")
        let style = ConnectionTableText.Style(width: width, paint: paint)
        let flows = ConnectionTableText.write(pass.analysis.table.conversations, pass.anomalies, style: style) {
            [output] in output.write($0)
        }
        var summary = "\(ByteText.count(flows, "flow")), \(ByteText.count(count, "packet")), \(dropped) dropped"
        if let owners { summary += ", \(owners.hidden) not shown (owned by other users, or by unknown owners)" }
        if subscription.overflowed { summary += "; packets arrived faster than they could be stored: some are missing" }
        if let unfollowed = pass.analysis.unfollowed { summary += "; \(unfollowed)" }
        output.write(ConnectionTableText.wrapped(summary, width: width))
    }

    private func writeJSON(_ dropped: Int) {
        for number in pass.analysis.table.conversations.indices {
            output.write(InspectJSON.flow(pass.report(number), file: interface))
        }
        var members: [JSONValue.Member] = [
            ("file", .string(interface)), ("packets", .integer(count)),
            ("flows", .integer(pass.analysis.table.conversations.count)), ("dropped", .integer(dropped)),
            ("unfollowed", .integer(pass.analysis.unfollowedCount)), ("overflowed", .boolean(subscription.overflowed)),
        ]
        if let owners { members.append(("hidden", .integer(owners.hidden))) }
        output.write(InspectJSON.line("summary", members))
    }
}
