import Glibc
import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeSystem
import ProbeTransport
import ProbeWire

/// Writes a case's packets: to a capture file, and into the timeline.
extension CaseReport {
    /// Writes the case's packets to a capture file, with the case's steps as comments.
    ///
    /// - Returns: the path of the file; `nil` if no packets are captured.
    func writeCapture() throws(Finding) -> String? {
        let (job, settings) = (context.job, context.settings)
        guard context.seesPackets else { return nil }
        // Links carry Ethernet frames, and so does the loopback interface.
        let linkType = context.capture.capture?.packetLinkType ?? .ethernet
        // Each round of a repetition has its own file, because the capture of a passed round must not replace that of a
        // failed round.
        let isNamed = settings.subjects.count > 1 && context.hasSubject
        let subject = isNamed ? job.subject?.name : nil
        let name = CaseFileName.of(id: job.id, subject: subject, round: job.round) + ".pcapng"
        let path = "\(settings.outputFolder)/\(name)"
        let bytes = captureFile(linkType)
        // With the secrets, anyone who can read the file can decrypt the case's TLS connections.
        let mode: UInt32 = hasSecrets ? 0o600 : 0o644
        do throws(SystemError) {
            if let folder = settings.openedFolder {
                try folder.replace(name, with: bytes, mode: mode)
            } else {
                try Folder(making: settings.outputFolder).replace(name, with: bytes, mode: mode)
            }
        } catch {
            throw Finding(
                .error, "the capture could not be written to \(path): \(error.reason)",
                hints: ["choose another folder with `--out DIR`, or keep no captures with `--keep none`"])
        }
        return path
    }

    private var hasSecrets: Bool { context.settings.keepsSecrets && !context.secrets.lines.isEmpty }

    private func captureFile(_ linkType: LinkType) -> [UInt8] {
        let (names, capture) = (context.wireNames(), context.capture)
        let entries = names.traffic.entries
        let order = names.ownPackets.sorted { (entries[$0].packet.time, $0) < (entries[$1].packet.time, $1) }
        let steps =
            context.annotations.entries.isEmpty
            ? [:]
            : AnnotationPlacement(order, names: names, clock: capture.clock)
                .comments(context.annotations.entries, context.sources)
        let interfaces = CaptureInterfaces(context, linkType)
        let writer = PcapNGWriter(interfaces: interfaces.all)
        var bytes = writer.header(
            application: "tcpprobe \(context.settings.version)", system: SystemName.text,
            comments: ["case \(Escaped.text(context.job.id.utf8))"] + secretsComments
                + context.judged.notes(names, context).comments)
        // The secrets must precede the packets, because programs that read the file use them only for the packets that
        // follow.
        if hasSecrets {
            bytes += writer.secrets(keyLog: context.secrets.keyLog)
        }
        let records = interfaces.records(order, entries: entries, comments: steps, LinkComments(context))
        for record in records {
            bytes += writer.packet(
                record.packet, comments: record.comments, on: record.interface, direction: record.direction)
        }
        bytes += writer.statistics(
            PcapNGWriter.Statistics(
                start: capture.captureTime(of: context.time.start), end: capture.captureTime(of: .now),
                received: UInt64(records.count), dropped: UInt64(capture.dropped)))
        return bytes
    }

    private var secretsComments: [String] {
        let count = context.secrets.leftOut
        guard context.settings.keepsSecrets, count > 0 else { return [] }
        return ["\(ByteText.count(count, "line")) of the TLS key log omitted, because the key log is too large"]
    }

    // MARK: The timeline

    /// The maximum number of packets in a report. If there are more, only the first and the last packets are shown.
    private static let shownPackets = 200
    /// The maximum number of payload bytes that a report shows for each packet.
    private static let shownBytes = 48

    /// Returns the packets that are shown even if there are many: those that open or close a connection, and the last
    /// packet of each side. With many connections, only the last of these packets are returned.
    private static func turningPoints(of names: WireNames, in packets: ArraySlice<Int>) -> Set<Int> {
        var turns: [Int] = []
        var last: [WireEnd: Int] = [:]
        for index in packets {
            let entry = names.traffic.entries[index]
            guard let summary = entry.summary, let sender = entry.sender else { continue }
            last[sender] = index
            if !summary.flags.isDisjoint(with: [.syn, .fin, .rst]) { turns.append(index) }
        }
        return Set(Set(turns).union(last.values).sorted().suffix(shownPackets / 2))
    }

    /// Returns the case's steps, events, output and packets in chronological order.
    func mergedTimeline() -> [TimelineEntry] {
        var merged = context.timeline.entries.map { entry in
            guard case .step(let span, _, let values) = entry.kind else { return entry }
            return TimelineEntry(time: entry.time, kind: .step(span, context.text(of: span), values: values))
        }
        let names = context.wireNames()
        let faults = LinkComments(context)
        let packets = names.ownPackets
        let middle = packets.count > Self.shownPackets ? 50..<(packets.count - Self.shownPackets + 50) : 0..<0
        let kept = Self.turningPoints(of: names, in: packets[middle])
        for (position, index) in packets.enumerated() {
            let entry = names.traffic.entries[index]
            if middle.contains(position) && !kept.contains(index) && position != middle.lowerBound { continue }
            let time = context.time.elapsed(context.capture.time(of: entry.packet))
            if position == middle.lowerBound, !middle.isEmpty {
                merged.append(
                    TimelineEntry(
                        time: time,
                        kind: .note(
                            "… \(ByteText.count(middle.count - kept.count, "packet")) omitted; see the capture")))
                if !kept.contains(index) { continue }
            }
            guard let summary = entry.summary else { continue }
            let from = names.name(summary.conversation, summary.side)
            let to = names.name(summary.conversation, summary.side.opposite)
            let text = summary.text(
                payload: entry.packet.bytes.span.extracting(entry.payload), payloadLimit: Self.shownBytes)
            let comments = faults.comments(of: index)
            let met = comments.map { "  [\($0)]" }.joined()
            let packet = TimelinePacket(
                "\(from) -> \(to)  \(text)\(met)",
                segment: TimelinePacket.Segment(
                    from: from, to: to, flags: summary.flags.description, sequence: summary.relativeSequence,
                    acknowledgment: summary.relativeAcknowledgment, window: summary.window,
                    payloadLength: summary.payloadLength,
                    payload: Array(entry.packet.bytes[entry.payload].prefix(Self.shownBytes)), marks: summary.marks),
                faults: comments)
            merged.append(TimelineEntry(time: time, kind: .packet(packet)))
        }
        merged += DeadAddresses(context: context).attempts(names, faults)
        for next in faults.changed.prefix(Self.shownPackets) {
            let time = context.time.elapsed(context.capture.time(of: next.packet))
            let comments = next.comments.joined(separator: "; ")
            merged.append(
                TimelineEntry(
                    time: time,
                    kind: .packet(TimelinePacket("\(next.text)  [\(comments)]", faults: next.comments))))
        }
        return merged.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }
}

/// The name and the release of the operating system, for the header of the capture file.
private enum SystemName {
    static var text: String {
        var name = utsname()
        uname(&name)
        func string<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(string(name.sysname)) \(string(name.release))"
    }
}
