import ProbeBase

/// Findings about the capture itself.
struct CaptureFindings: FindingGroup {
    let list: FindingList

    func find() {
        let flow = context.flow
        if context.hasCaptureLosses {
            var evidence = Evidence()
            for hole in flow.client.holes + flow.server.holes where hole.isAcknowledged { evidence.add(hole.packet) }
            add(
                .captureDroppedPackets, .warning, .certain, .capture, evidence,
                "The capture is incomplete: \(size(Int(context.missingBytes))) that were acknowledged are not in it.",
                next:
                    "capture again with a larger buffer (`-B`), a filter or a smaller snapshot length, or on a faster disk",
                numbers: [("bytes", .integer(Int(context.missingBytes)))])
        }
        if context.isOneDirection {
            let seen: ConversationSide = flow.client.packetCount > 0 ? .client : .server
            add(
                .oneDirection, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture contains only the packets of the \(seen.word).",
                next:
                    "capture at a point that the packets of both directions pass through; the path may be asymmetric, or the filter too narrow"
            )
        }
        if flow.cutCount > 0 {
            add(
                .snapLength, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture contains only the beginning of \(count(flow.cutCount, "packet")).",
                next: "capture with `-s 0` if the contents matter", numbers: [("packets", .integer(flow.cutCount))])
        }
        if flow.client.syn == nil, flow.server.syn == nil {
            add(
                .startsInTheMiddle, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture does not contain the beginning of the connection, so window scaling and the roles of the two sides are not certain.",
                next: "start the capture before the connection")
        }
        for side in ConversationSide.allCases where flow[side].hasOffload {
            add(
                .offload, .note, .certain, .capture, Evidence(flow[side].lastDataPacket),
                "The \(side.word)'s packets were captured before segmentation (up to \(size(flow[side].largestPayload))), so the sizes on the wire are smaller.",
                next: "turn off TSO, GSO and GRO (`ethtool -K`) or capture elsewhere if the sizes matter",
                numbers: [("largest", .integer(flow[side].largestPayload))])
            break
        }
        if !flow.clock.steps.isEmpty {
            add(
                .clockStepped, .warning, flow.clock.isProven ? .certain : .likely, .capture, flow.clock.steps,
                "The clock of the capture was changed \(flow.clock.steps.total == 1 ? "once" : "\(flow.clock.steps.total) times"), so times are not reliable.",
                next: "capture again with a clock that is not set meanwhile; ignore times across the step",
                rivals: ["packets that were not stored in the order in which they arrived"],
                numbers: [("steps", .integer(flow.clock.steps.total))])
        }
    }
}
