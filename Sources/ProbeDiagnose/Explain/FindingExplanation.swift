import ProbeBase

/// The explanation of a kind of finding, for a reader who sees the finding for the first time.
///
/// The thresholds are those of the groups of findings in `Findings/`. Texts may be broken into lines at any space.
package struct FindingExplanation: Sendable {
    /// A sentence without a full stop; the summary in the list of findings.
    package var meaning: String
    /// What the packets show: the condition for the finding.
    package var packets: String
    /// The severities that the finding can have, each with its condition.
    package var severity: String
    /// When the finding is certain, and the other causes that the packets permit if it isn't.
    package var certainty: String
    /// Where to act.
    package var side: String
    /// What to do next.
    package var next: String
    /// The findings that are set aside as consequences of this one.
    package var explains: [Consequences] = []
    /// The findings of the individual flows that are marked as parts of this finding about several flows.
    package var parts: [FindingID] = []

    /// Findings that another one explains.
    package struct Consequences: Sendable {
        package var ids: [FindingID]
        /// The condition under which the finding explains the others, as a clause; `nil` if it always does.
        package var condition: String?

        init(_ ids: FindingID..., if condition: String? = nil) {
            self.ids = ids
            self.condition = condition
        }

        private init(ids: [FindingID], condition: String?) {
            self.ids = ids
            self.condition = condition
        }

        /// All other findings about the flow, except those about the capture.
        static func everything(_ cause: FindingID, if condition: String? = nil) -> Consequences {
            let ids = FindingID.allCases.filter { !$0.isAboutCapture && !$0.isAboutSeveralFlows && $0 != cause }
            return Consequences(ids: ids, condition: condition)
        }
    }

    /// Returns the findings that explain a finding. Failed attempts to connect, which explain every finding about the
    /// flow, are left out.
    static func causes(of id: FindingID) -> [FindingID] {
        FindingID.allCases.filter { cause in
            of(cause).explains.contains { $0.ids.contains(id) && !$0.isEverything }
        }
    }

    // MARK: The page

    /// The width of a page, in columns.
    private static let width = 100
    private static let labelWidth = 14

    /// Returns the text that `tcpprobe explain ID` prints.
    package static func page(of id: FindingID) -> String {
        let explanation = of(id)
        var text = filled("\(id.rawValue): ", explanation.meaning, indent: 4)
        text += "\n" + labelled("packets", explanation.packets)
        text += labelled("severity", explanation.severity) + labelled("certainty", explanation.certainty)
        text += labelled("side", explanation.side) + labelled("next", explanation.next)
        if !explanation.explains.isEmpty {
            text += labelled("explains", explanation.explains.map(\.text).joined(separator: "; "))
        }
        let causes = causes(of: id)
        if !causes.isEmpty { text += labelled("explained by", list(causes)) }
        if !explanation.parts.isEmpty { text += labelled("includes", list(explanation.parts)) }
        return text
    }

    fileprivate static func list(_ ids: [FindingID]) -> String { ids.map(\.rawValue).joined(separator: ", ") }

    private static func labelled(_ label: String, _ text: String) -> String {
        filled("  " + Columns.padded(label, to: labelWidth), text, indent: labelWidth + 2)
    }

    /// Returns lines of limited width that begin with `start`.
    private static func filled(_ start: String, _ text: String, indent: Int) -> String {
        var lines = [start]
        var isEmpty = true
        for word in words(of: text) {
            let last = lines[lines.count - 1]
            if !isEmpty, last.count + 1 + word.count > width {
                lines.append(String(repeating: " ", count: indent) + word)
            } else {
                lines[lines.count - 1] = last + (isEmpty ? "" : " ") + word
            }
            isEmpty = false
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the words of a text. A command in backquotes counts as a word, so that it can be copied from one line.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var isOpen = false
        for word in text.split(whereSeparator: \.isWhitespace) {
            if isOpen { words[words.count - 1] += " " + word } else { words.append(String(word)) }
            if !word.count(where: { $0 == "`" }).isMultiple(of: 2) { isOpen.toggle() }
        }
        return words
    }
}

extension FindingExplanation.Consequences {
    /// Whether the finding explains all others about its flow.
    var isEverything: Bool { ids.count > 20 }

    fileprivate var text: String {
        let subject =
            isEverything
            ? "all other findings about the flow, except those about the capture" : FindingExplanation.list(ids)
        return subject + (condition.map { " (\($0))" } ?? "")
    }
}

extension FindingExplanation {
    /// Returns the explanation of a kind of finding.
    package static func of(_ id: FindingID) -> FindingExplanation {
        switch id {
        case .refused: TransportExplanations.refused
        case .noAnswer: TransportExplanations.noAnswer
        case .synLost: TransportExplanations.synLost
        case .acceptQueueFull: TransportExplanations.acceptQueueFull
        case .icmpUnreachable: TransportExplanations.icmpUnreachable
        case .slowHandshake: TransportExplanations.slowHandshake
        case .wrongSYNAnswer: TransportExplanations.wrongSYNAnswer
        case .noWindowScaling: TransportExplanations.noWindowScaling
        case .noSACK: TransportExplanations.noSACK
        case .smallMSS: TransportExplanations.smallMSS
        case .fastOpenRejected: TransportExplanations.fastOpenRejected
        case .closedWindow: TransportExplanations.closedWindow
        case .windowLimited: TransportExplanations.windowLimited
        case .smallWindow: TransportExplanations.smallWindow
        case .applicationLimited: TransportExplanations.applicationLimited
        case .timeoutStall: TransportExplanations.timeoutStall
        case .tailLoss: TransportExplanations.tailLoss
        case .loss: TransportExplanations.loss
        case .reordering: TransportExplanations.reordering
        case .spuriousRetransmission: TransportExplanations.spuriousRetransmission
        case .mtuBlackHole: TransportExplanations.mtuBlackHole
        case .nagleDelayedAck: ApplicationExplanations.nagleDelayedAck
        case .tinygrams: ApplicationExplanations.tinygrams
        case .bufferbloat: TransportExplanations.bufferbloat
        case .duplicatePackets: TransportExplanations.duplicatePackets
        case .sillyWindow: TransportExplanations.sillyWindow
        case .sackReneging: TransportExplanations.sackReneging
        case .slowServer: ApplicationExplanations.slowServer
        case .slowClient: ApplicationExplanations.slowClient
        case .requestUnfinished: ApplicationExplanations.requestUnfinished
        case .slowDrip: ApplicationExplanations.slowDrip
        case .noData: ApplicationExplanations.noData
        case .tlsAlert: ApplicationExplanations.tlsAlert
        case .tlsHandshakeStalled: ApplicationExplanations.tlsHandshakeStalled
        case .tlsVersionMismatch: ApplicationExplanations.tlsVersionMismatch
        case .truncatedTLS: ApplicationExplanations.truncatedTLS
        case .resetByClient: ApplicationExplanations.reset(by: "client")
        case .resetByServer: ApplicationExplanations.reset(by: "server")
        case .injectedReset: ApplicationExplanations.injectedReset
        case .dataLostAtClose: ApplicationExplanations.dataLostAtClose
        case .halfClosed: ApplicationExplanations.halfClosed
        case .vanished: ApplicationExplanations.vanished
        case .keepAliveFailed: ApplicationExplanations.keepAliveFailed
        case .captureDroppedPackets: ApplicationExplanations.captureDroppedPackets
        case .oneDirection: ApplicationExplanations.oneDirection
        case .snapLength: ApplicationExplanations.snapLength
        case .startsInTheMiddle: ApplicationExplanations.startsInTheMiddle
        case .offload: ApplicationExplanations.offload
        case .capturedTwice: ApplicationExplanations.capturedTwice
        case .clockStepped: ApplicationExplanations.clockStepped
        case .reconnectStorm: ApplicationExplanations.reconnectStorm
        case .portReuse: ApplicationExplanations.portReuse
        case .connectionsRefusedUnderLoad: ApplicationExplanations.connectionsRefusedUnderLoad
        case .oneServerSlow: ApplicationExplanations.oneServerSlow
        case .allFlowsStall: ApplicationExplanations.allFlowsStall
        case .synFlood: ApplicationExplanations.synFlood
        case .portScan: ApplicationExplanations.portScan
        }
    }
}
