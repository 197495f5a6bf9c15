import ProbeBase
import ProbeScenario
import ProbeSystem

/// Where a step acted: it becomes a comment on that packet of the capture.
struct CaptureMark {
    enum Place {
        /// The first packet at or after the step, of any connection.
        case anyPacket
        /// The SYN of a connection of the harness, its SYN-ACK, its FIN, its RST.
        case syn(Connection)
        case handshake(Connection)
        case fin(Connection)
        case rst(Connection)
        /// The segment that carries this byte of what the harness's endpoint sent.
        case data(Connection, offset: Int)
        /// The next packet, or the next data, of the subject.
        case anySubjectPacket
        case subjectData
    }

    var text: String
    var time: MonotonicTime
    var place: Place
}
