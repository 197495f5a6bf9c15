import ArgumentParser
import Glibc
import ProbeCapture
import ProbeEvents
import ProbeWire

/// Captures the packets on one port until standard input ends, and prints statistics. The traffic is sent by another
/// program.
struct BenchCapture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", abstract: "Capture packets until standard input ends, and print the counts as JSON.")

    @Argument(help: "Port to capture.")
    var port: UInt16

    /// The interval at which packets are taken from the subscription, in milliseconds.
    private static let interval: Int32 = 50

    func run() throws {
        let capture: Capture
        do {
            capture = try Capture.open(ports: CapturePorts(extra: [port]))
        } catch {
            Console.standardError.write("error: \(error.message(executable: "tcpprobe"))\n")
            throw ExitCode(3)
        }
        let subscription = capture.subscribeToAll()
        Console.standardOutput.write("ready\n")
        var tally = Tally(linkType: LinkType(rawValue: UInt32(bitPattern: capture.linkType)))
        var isOpen = true
        while isOpen {
            var poller = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, Self.interval) > 0 {
                var byte: UInt8 = 0
                isOpen = read(0, &byte, 1) > 0
            }
            tally.add(subscription.take())
        }
        let waiter = FenceWaiter()
        capture.fence(timeout: .seconds(10)) { waiter.finish($0) }
        let isComplete = waiter.wait()
        tally.add(subscription.take())
        Console.standardOutput.write(
            "{\"packets\": \(tally.count), \"seconds\": \(tally.seconds), \"dropped\": \(capture.statistics().dropped), "
                + "\"missing-bytes\": \(tally.missingBytes()), "
                + "\"complete\": \(isComplete && !subscription.overflowed)}\n")
        capture.leaveClosingToKernel()
    }

    private struct Tally {
        let linkType: LinkType
        private(set) var count = 0
        private var first: UInt64 = 0
        private var last: UInt64 = 0
        private var analysis = CaptureAnalysis(limits: .passing)

        init(linkType: LinkType) {
            self.linkType = linkType
        }

        mutating func add(_ packets: [CapturedPacket]) {
            for packet in packets {
                if count == 0 { first = packet.time }
                last = max(last, packet.time)
                analysis.pass(
                    packet.bytes.span, linkType: linkType, originalLength: packet.originalLength, time: packet.time,
                    index: count)
                count += 1
            }
        }

        /// The time between the first and the last packet, in seconds.
        var seconds: Double { Double(last > first ? last - first : 0) / 1e9 }

        /// Returns the total number of bytes missing from all streams, regardless of the cause.
        mutating func missingBytes() -> Int64 {
            analysis.finish()
            return analysis.table.conversations.reduce(0) { sum, conversation in
                sum
                    + (conversation.fromClient.stream.gaps + conversation.fromServer.stream.gaps).reduce(0) {
                        $0 + $1.length
                    }
            }
        }
    }
}
