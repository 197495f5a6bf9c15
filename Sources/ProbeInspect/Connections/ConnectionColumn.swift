import ProbeBase
package import ProbeWire

/// A column of the table of flows.
package enum ConnectionColumn: String, Sendable, CaseIterable {
    case flow, client, server, packets
    case clientBytes = "client-bytes"
    case serverBytes = "server-bytes"
    case duration, handshake, close, anomalies
    // The following columns are shown only on request.
    case start, rtt
    case clientWindow = "client-window"
    case serverWindow = "server-window"
    // The following columns require every packet to be examined.
    case firstByte = "first-byte"
    case longestPause = "longest-pause"
    case lastHeard = "last-heard"

    /// Whether the column shows a value that `ConnectionTiming` measures.
    package var isTiming: Bool { self == .firstByte || self == .longestPause || self == .lastHeard }

    /// The columns that are shown by default.
    package static let standard: [ConnectionColumn] = [
        .flow, .client, .server, .packets, .clientBytes, .serverBytes, .duration, .handshake, .close, .anomalies,
    ]

    /// Parses a list of columns such as `flow,client,start`. A list such as `+start,rtt` stands for the standard
    /// columns, with the given columns inserted before the last column. The error is the first name that is not a
    /// column.
    package static func list(_ text: String) -> Result<[ConnectionColumn], UnknownName> {
        let isMore = text.hasPrefix("+")
        var columns: [ConnectionColumn] = []
        for word in text.dropFirst(isMore ? 1 : 0).split(separator: ",", omittingEmptySubsequences: false) {
            guard let column = ConnectionColumn(rawValue: String(word)) else {
                return .failure(UnknownName(name: String(word)))
            }
            if !columns.contains(column) { columns.append(column) }
        }
        guard isMore else { return .success(columns) }
        let added = columns.filter { !standard.contains($0) }
        return .success(standard.dropLast() + added + standard.suffix(1))
    }

    /// Returns the possible completions of a list of columns: the list followed by each name that it does not contain
    /// yet.
    ///
    /// - Parameter text: the beginning of a list. Its last name may be incomplete.
    package static func completions(of text: String) -> [String] {
        let isMore = text.hasPrefix("+")
        let start =
            text.lastIndex(of: ",").map { text.index(after: $0) }
            ?? text.index(text.startIndex, offsetBy: isMore ? 1 : 0)
        let taken = text[..<start].dropFirst(isMore ? 1 : 0).split(separator: ",").map(String.init)
        return allCases.filter { !taken.contains($0.rawValue) && !(isMore && standard.contains($0)) }
            .map { text[..<start] + $0.rawValue }.filter { $0.hasPrefix(text) }
    }

    package struct UnknownName: Error {
        package var name: String
    }

    var title: String {
        switch self {
        case .rtt: "RTT"
        default: rawValue.split(separator: "-").joined(separator: " ")
        }
    }

    var isRightAligned: Bool {
        switch self {
        case .flow, .packets, .clientBytes, .serverBytes, .duration, .rtt, .clientWindow, .serverWindow, .firstByte:
            true
        case .client, .server, .handshake, .close, .anomalies, .start, .longestPause, .lastHeard: false
        }
    }

    /// Appends the contents of the column's cell for a flow.
    func append(
        _ conversation: borrowing Conversation, _ counts: ConnectionAnomalies, _ timing: ConnectionTiming?,
        to bytes: inout [UInt8]
    ) {
        switch self {
        case .flow: bytes.append(decimal: conversation.number)
        case .client: bytes.append(conversation.client)
        case .server: bytes.append(conversation.server)
        case .packets: bytes.append(decimal: conversation.packetCount)
        case .clientBytes: Self.append(bytesOf: conversation.fromClient, to: &bytes)
        case .serverBytes: Self.append(bytesOf: conversation.fromServer, to: &bytes)
        case .duration: bytes.append(text: DurationText.text(nanoseconds: conversation.duration))
        case .handshake: bytes.append(text: conversation.handshake.rawValue)
        case .close: Self.append(closes: conversation.closes, to: &bytes)
        case .anomalies:
            for (index, anomaly) in conversation.anomalies(counts).enumerated() {
                if index > 0 { bytes.append(text: ", ") }
                bytes.append(text: anomaly.text)
            }
        case .start: bytes.append(text: conversation.firstTime.map(StartTime.timeOfDay) ?? "-")
        case .rtt:
            bytes.append(text: conversation.handshakeRoundTrip.map { DurationText.text(nanoseconds: $0) } ?? "-")
        case .clientWindow: Self.append(windowOf: conversation.fromClient, to: &bytes)
        case .serverWindow: Self.append(windowOf: conversation.fromServer, to: &bytes)
        case .firstByte:
            bytes.append(text: timing?.firstByte.map { DurationText.text(nanoseconds: $0) } ?? "-")
        case .longestPause:
            bytes.append(
                text: timing?.longestPause.map {
                    "\(DurationText.text(nanoseconds: $0.duration)) \($0.silent.word)"
                } ?? "-")
        case .lastHeard:
            let start = conversation.firstTime ?? 0
            let parts = ConversationSide.allCases.compactMap { side in
                timing?.lastHeard(side).map {
                    "\(side.word) \(DurationText.text(nanoseconds: DurationText.difference(from: start, to: $0)))"
                }
            }
            bytes.append(text: parts.isEmpty ? "-" : parts.joined(separator: ", "))
        }
    }

    /// Appends the number of bytes in the stream, excluding retransmissions, or `30 of 79 captured` if the snap length
    /// cut packets short.
    private static func append(bytesOf half: borrowing HalfConnection, to bytes: inout [UInt8]) {
        bytes.append(decimal: Int(half.stream.deliveredLength))
        guard half.hasCutSegment, half.sentLength > half.stream.deliveredLength else { return }
        bytes.append(text: " of ")
        bytes.append(decimal: Int(half.sentLength))
        bytes.append(text: " captured")
    }

    private static func append(closes: [ConnectionReport.Close], to bytes: inout [UInt8]) {
        if closes.isEmpty { bytes.append(text: "open") }
        for (index, close) in closes.enumerated() {
            if index > 0 { bytes.append(text: ", ") }
            bytes.append(text: close.side.word)
            bytes.append(text: close.isReset ? " RST" : " FIN")
            if let refusal = close.refusal { bytes.append(text: " (\(refusal.text))") }
        }
    }

    /// Appends the smallest and the largest advertised window: `0-65536`. A `?` is added if the scale factor is
    /// unknown.
    private static func append(windowOf half: borrowing HalfConnection, to bytes: inout [UInt8]) {
        guard let smallest = half.window.smallest, let largest = half.window.largest else {
            return bytes.append(text: "-")
        }
        bytes.append(decimal: smallest)
        if largest != smallest {
            bytes.append(text: "-")
            bytes.append(decimal: largest)
        }
        if half.window.hasUnknownScale { bytes.append(text: "?") }
    }
}

extension HalfConnection {
    /// The number of bytes that were sent, excluding retransmissions. It includes bytes that the snap length cut off,
    /// but not the bytes of packets that are missing from the capture.
    package var sentLength: Int64 {
        guard hasCutSegment else { return stream.deliveredLength }
        return stream.gaps.reduce(stream.end) { $0 - ($1.cause == .cutShort ? 0 : $1.length) }
    }
}
