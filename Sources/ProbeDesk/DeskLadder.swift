import ProbeEngine
import ProbeInspect
import ProbeReport
import ProbeWire

/// Shows the packets of a session as a ladder diagram.
enum DeskLadder {
    /// Returns the text to show, and whether packets can be captured. The text is the diagram if they can, and
    /// otherwise an error message.
    static func text(of caseRun: CaseRun, width: Int?, paint: Paint) async -> (text: String, isSeen: Bool) {
        guard let (link, packets) = await caseRun.packets() else {
            return ("error: no packets can be seen: \(await caseRun.captureProblem)\n", false)
        }
        return (text(of: packets, link, width: width, paint: paint), true)
    }

    private static func text(
        of packets: [CapturedPacket], _ link: LinkType, width: Int?, paint: Paint
    ) -> String {
        if packets.isEmpty { return "no packets of this session were seen; only the loopback interface is captured\n" }
        let collected = Collected()
        let observer = WatchObserver(width: width ?? LadderText.plainWidth, paint: paint) {
            collected.text += $0
        }
        var pass = InspectionPass(limits: .passing, filter: ConnectionFilter(), observer: observer)
        for (index, packet) in packets.enumerated() {
            pass.take(
                CaptureRecord(
                    index: index, time: packet.time, originalLength: packet.originalLength, linkType: link),
                packet.bytes.span)
        }
        pass.finish()
        return collected.text
    }

    private final class Collected {
        var text = ""
    }
}
