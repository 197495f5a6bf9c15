/// What can be wrong with links: with who is on one, and with what becomes of packets.
package enum LinkDiagnosticKind: Sendable {
    /// A proxy, a connection that was accepted.
    case notOnLinks(String, kind: ActorKind)
    case twice(String)
    case noLink(server: String)
    /// Which side it is on can't be told.
    case sideUnknown(server: String)
    case otherAddress(server: String)
    /// One end is on a link, and the other one is not, or on the same side.
    case notAcross(String, target: String)
    case addressBeside(String)
    /// What a step names.
    case notTheEnds(String, String)
    case arrivedElsewhere(String)
    case ordinalOfBoth
    case neverSent(PacketKind, by: String)
    case burstWithoutLoss
    case lastBeforeFirst
    case jitterAboveDelay
    case noPercentage(String)
    case injectionTooLong(Int)

    var message: Diagnostic.Message {
        switch self {
        case .notOnLinks(let name, let kind):
            .init(
                .linkEnds, "`\(name)` is a \(kind.rawValue), and that can't be on a link",
                hint: "a link has servers, clients, subjects and processes at its ends")
        case .twice(let name):
            .init(
                .linkEnds, "`\(name)` is on a link already",
                hint: "an actor has one network: leave it out of one of the two")
        case .noLink(let server):
            .init(
                .linkEnds, "`\(server)` listens on a link, and the script has none",
                hint: "write link \(server) <-> T, or leave `on link` out")
        case .sideUnknown(let server):
            .init(
                .linkEnds, "which side of which link `\(server)` is on can't be told",
                hint: "name it in the link: link \(server), S <-> T")
        case .otherAddress(let server):
            .init(
                .linkEnds, "`\(server)` is on a link, and there it has the address of its side",
                hint: "write server \(server) on link:8080, or on [link6]:8080 for IPv6")
        case .notAcross(let name, let target):
            .init(
                .linkEnds, "`\(name)` can't reach `\(target)`: they are not the two ends of one link",
                hint: "write link \(target) <-> \(name)")
        case .addressBeside(let name):
            .init(
                .linkEnds, "`\(name)` is on a link: nothing but the other end can be reached from there",
                hint: "connect it to an actor on the other side")
        case .notTheEnds(let from, let to):
            .init(
                .linkEnds, "`\(from)` and `\(to)` are not the two ends of one link",
                hint: "the header says who they are: link \(from) <-> \(to)")
        case .arrivedElsewhere(let name):
            .init(
                .linkEnds, "`arrived` is about packets of a link, and `\(name)` is on none",
                hint: "without a link what left has arrived: leave the word out")
        case .ordinalOfBoth:
            .init(
                .linkFault, "the packets of both directions are not counted together",
                hint: "write link S -> T for those of one direction, or all for each packet")
        case .neverSent(let kind, let name):
            .init(
                .linkFault,
                "`\(name)` never sends a packet of the kind `\(kind.rawValue)`: the other end opens the connections",
                hint: kind == .syn
                    ? "it answers with a synack; the other direction has the syn" : "the other direction has it")
        case .burstWithoutLoss:
            .init(
                .linkFault, "no packets are lost here that could be lost in a row",
                hint: "write loss 5% before it, or loss 5% burst 3")
        case .lastBeforeFirst:
            .init(.linkFault, "the last packet is before the first", hint: "write the smaller number first: data 2..5")
        case .jitterAboveDelay:
            .init(
                .linkFault, "the jitter is longer than the delay: a packet can't arrive before it left",
                hint: "write delay 20ms jitter 5ms: 15 to 25 ms")
        case .injectionTooLong(let length):
            .init(
                .linkFault, "\(length) bytes do not fit a segment of the link",
                hint: "inject \(LinkAction.injectable.upperBound) bytes at most, in several steps")
        case .noPercentage(let text):
            .init(.linkFault, "\(text)% is no share of the packets", hint: "it is above 0% and at most 100%")
        }
    }

    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .linkEnds: DiagnosticExplanation(
            meaning:
                "A link has two sides, each with a network of its own. Its ends are servers, clients, subjects and processes; each "
                + "is on one link, and reaches only what is on the other side.",
            wrong: #"""
                scenario "example"
                server S
                server R
                client C -> S
                link R <-> C
                C connect
                S accept
                R accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                C connect
                S accept
                """#
        ),
        .linkFault: DiagnosticExplanation(
            meaning: "No packet of the link can be what the fault is about, so nothing would be tested.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                link S -> C drop syn
                C connect
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                link C -> S drop syn
                C connect
                S accept
                """#
        ),
    ]
}
