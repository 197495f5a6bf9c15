/// The parts of the language that can be switched off while what runs them is not there.
///
/// A construct of ``notBuilt`` parses (or is passed over) and is reported at its place as `not-built`. To gate one more,
/// add its case to ``notBuilt``.
package enum Feature: String, Sendable, CaseIterable {
    case tls, startTLS, closeWithoutNotify, requireTLS
    case webSocket, webSocketFraming, protobuf
    case crowd, link, requireLink, name
    case each, table, define, include, forLoop, check, either, retry, whenever, finally, together
    case connectTo, urgent, startSending, stalled, sendFailed, linesInAnyOrder, untilLine, integers
    case stopListening, noConnection, subjectListens, subjectReads, memory, descriptors
    case messages, wireMessages, longestLine, firstByte, window, wireUrgent, retransmissions, packets

    /// What is not built yet.
    package static let notBuilt: Set<Feature> = [
        .tls, .startTLS, .closeWithoutNotify, .requireTLS, .webSocket, .webSocketFraming, .protobuf, .crowd, .link,
        .requireLink, .name,
    ]

    /// As it is written in a script.
    package var title: String {
        switch self {
        case .tls: "`tls`"
        case .startTLS: "`start tls`"
        case .closeWithoutNotify: "`close without notify`"
        case .requireTLS: "`require tls`"
        case .webSocket: "`ws.…`"
        case .webSocketFraming: "`framing websocket`"
        case .protobuf: "`pb(…)`"
        case .requireLink: "`require link`"
        case .forLoop: "`for`"
        case .connectTo: "`connect to`"
        case .startSending: "`start sending`"
        case .stalled: "`expect stalled`"
        case .sendFailed: "`expect send failed`"
        case .linesInAnyOrder: "`expect lines in any order`"
        case .untilLine: "`expect until line`"
        case .integers: "`expect u16` and its kin"
        case .stopListening: "`stop listening`"
        case .noConnection: "`expect no connection`"
        case .subjectListens: "`subject … listens`"
        case .subjectReads: "`read` of a subject"
        case .messages: "`expect message`"
        case .wireMessages: "`wire … messages`"
        case .longestLine: "`longest line`"
        case .firstByte: "`first byte within`"
        case .wireUrgent: "`wire … urgent`"
        default: "`\(rawValue)`"
        }
    }
}

extension Parser {
    /// Notes the use of a feature; one that is not built is reported.
    func use(_ feature: Feature, at span: SourceSpan) {
        if Feature.notBuilt.contains(feature) { notBuilt(feature, at: span) }
    }

    func notBuilt(_ feature: Feature, at span: SourceSpan) {
        report(.structure(.notBuilt(feature)), at: span)
    }
}
