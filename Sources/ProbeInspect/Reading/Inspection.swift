import Glibc
package import ProbeBase
package import ProbeDiagnose
import ProbeSystem
package import ProbeWire

/// Observes a capture packet by packet. Receives only the flows that the filter includes.
package protocol InspectionObserver: AnyObject {
    /// Called for each packet. The packet has already been added to `conversation`.
    ///
    /// - Parameter payload: the captured part of the packet's payload; empty for a packet that was reassembled from
    ///   fragments.
    func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation)
    /// Called for each part of a stream, if `ConversationLimits.deliversParts` is set. It is called after the packet
    /// that completed the part, or at the end of the capture for parts that no packet completed.
    func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation)
    /// Called for each ICMP error about a packet of the flow.
    func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation)
    /// Called when the flow has ended.
    func end(of conversation: Conversation)
}

extension InspectionObserver {
    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {}
}

/// Decides whether a packet is read, based on its record in the file and on its bytes.
package typealias PacketPredicate = (CaptureRecord, Span<UInt8>) -> Bool

/// The result of reading and analyzing a capture file.
package struct Inspection: Sendable {
    package let analysis: CaptureAnalysis
    /// The anomalies of each flow, by flow number. Flows beyond the last element have no anomalies.
    package let anomalies: [ConnectionAnomalies]
    /// The timing of each flow, by flow number; empty if it was not measured.
    package let timings: [ConnectionTiming]
    /// The diagnosis of the flows; `nil` if it was not requested.
    package let diagnosis: CaptureDiagnosis?
    /// The diagnosis of the flows that may have a problem, if all flows were screened instead of diagnosed.
    var examination: Examination?
    package let interfaces: [CaptureInterface]
    /// The TLS key logs in the file, as lines in the NSS key log format.
    package let keyLog: [UInt8]
    /// The number of packets of any kind in the file, excluding packets that a packet filter rejected.
    package let packetCount: Int
    /// The number of packets that a packet filter rejected.
    package let excludedCount: Int
    /// The reason why the file was not read to its end; `nil` if the whole file was read.
    package let problem: InspectionProblem?

    /// The number of packets that were dropped during the capture, according to the file (pcapng's interface
    /// statistics).
    package var dropped: UInt64 {
        interfaces.reduce(0) { $0.addingReportingOverflow($1.dropped ?? 0).partialValue }
    }

    /// A message if no TCP segment could be read, but some packets may contain a segment; otherwise `nil`.
    package var unreadable: String? {
        guard analysis.tcpPacketCount == 0 else { return nil }
        return analysis.others.text { $0.isUnread || $0.isHidden }.map {
            "no TCP segment could be read: \($0)"
        }
    }

    /// Discards the inspection without freeing its memory. Use this function in a process that is about to exit,
    /// because freeing thousands of flows one by one takes time.
    package consuming func abandon() {
        final class RetainedInspection {
            let inspection: Inspection
            init(_ inspection: Inspection) { self.inspection = inspection }
        }
        _ = Unmanaged.passRetained(RetainedInspection(self))
    }

    package func count(_ filter: ConnectionFilter) -> Int {
        let conversations = analysis.table.conversations
        return filter.isOpen ? conversations.count : conversations.count { filter.includes($0) }
    }

    /// A message if flows that the filter may include were not followed; otherwise `nil`.
    package func unfollowed(_ filter: ConnectionFilter) -> String? {
        if let number = filter.number, number < analysis.table.conversations.count { return nil }
        return analysis.unfollowed
    }

    /// Returns the report of one flow.
    package func report(_ number: Int) -> ConnectionReport {
        ConnectionReport(
            analysis.table.conversations[number],
            number < anomalies.count ? anomalies[number] : ConnectionAnomalies())
    }

    /// Returns the timing of a flow; `nil` if it was not measured.
    package func timing(_ number: Int) -> ConnectionTiming? { number < timings.count ? timings[number] : nil }

    /// Returns the reports of the flows that the filter includes. Each report is created when it is accessed.
    package func reports(_ filter: ConnectionFilter) -> some Collection<ConnectionReport> {
        analysis.table.conversations.lazy.filter { filter.includes($0) }
            .map { report($0.number) }
    }

    /// Reads `source` to its end. Memory is limited by `limits`, plus about a kilobyte for each flow.
    ///
    /// The analysis waits for missing bytes until the end of the capture, as far as the memory allows, so that late
    /// segments are still added to their streams. Most captures have no missing bytes, so a source that can be read
    /// again is first read in a pass that skips gaps early. The result of this first pass is used if none of the gaps'
    /// bytes arrived later.
    ///
    /// - Parameters:
    ///   - observer: receives the packets, and the streams if `limits.deliversParts` is set.
    ///   - accepts: decides which packets are read; `nil` to read all packets.
    ///   - measures: whether the result has `timings`, which require every packet to be examined.
    ///   - tunnels: whether tunneled packets are replaced with the packets that they carry.
    ///   - view: which of the packets captured at the ends of links are read.
    ///   - workers: the maximum number of threads. The result does not depend on the number. By default, the number
    ///     depends on the size of the file.
    package static func of(
        _ source: consuming CaptureSource, limits: ConversationLimits = .counting,
        filter: ConnectionFilter = ConnectionFilter(),
        observer: (any InspectionObserver)? = nil, accepts: PacketPredicate? = nil, tunnels: TunnelReading = .opened,
        view: LinkView = .received, measures: Bool = false, workers: Int? = nil
    ) -> Inspection {
        var limits = limits
        limits.gapTolerance = .segments(ConversationLimits.liveSegments)
        if source.isRegular {
            let found = withEarlyGiveUp(
                &source, limits: limits, accepts: accepts, tunnels: tunnels, view: view, measures: measures,
                workers: accepts == nil && !measures ? workers ?? self.workers(for: source) : 1)
            let isRight = !found.analysis.table.hasLateBytes
            if observer == nil, isRight { return found }
            if !source.rewind() { return found }
            if !isRight { limits.gapTolerance = .memory }
        } else {
            limits.gapTolerance = .memory
        }
        return read(
            &source,
            InspectionPass(
                limits: limits, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels,
                measures: measures), view)
    }

    /// Returns the result of the first pass over a capture, which skips gaps early.
    private static func withEarlyGiveUp(
        _ source: inout CaptureSource, limits: ConversationLimits, accepts: PacketPredicate?, tunnels: TunnelReading,
        view: LinkView, measures: Bool, workers: Int
    ) -> Inspection {
        if workers > 1, let shared = shared(source, limits: limits, tunnels: tunnels, view: view) { return shared }
        return read(
            &source,
            InspectionPass(
                limits: limits, filter: ConnectionFilter(), observer: nil, accepts: accepts, tunnels: tunnels,
                measures: measures), view)
    }

    static func read(
        _ source: inout CaptureSource, _ pass: consuming InspectionPass, _ view: LinkView
    ) -> Inspection {
        var reader = CaptureFileReader(view: view)
        var problem: InspectionProblem?
        do throws(CaptureFileError) {
            reading: while true {
                let step = try source.next { (chunk) throws(CaptureFileError) in
                    try pass.take(chunk, through: &reader)
                }
                switch step {
                case .success(true): break
                case .success(false):
                    try reader.finish()
                    break reading
                case .failure(let error):
                    problem = .source(error)
                    break reading
                }
            }
        } catch {
            problem = .file(error)
        }
        pass.finish()
        return Inspection(
            analysis: pass.analysis, anomalies: pass.anomalies, timings: pass.timings, diagnosis: pass.diagnosis,
            interfaces: reader.interfaces,
            keyLog: reader.keyLog, packetCount: reader.packetCount - reader.leftOutCount - pass.excludedCount,
            excludedCount: pass.excludedCount, problem: problem)
    }
}

/// The state of one pass over a capture file or a live capture.
package struct InspectionPass {
    package private(set) var analysis: CaptureAnalysis
    /// The anomalies found so far, as in `Inspection.anomalies`.
    package private(set) var anomalies: [ConnectionAnomalies] = []
    /// The timings measured so far, as in `Inspection.timings`.
    private(set) var timings: [ConnectionTiming] = []
    private let measures: Bool
    private let observer: (any InspectionObserver)?
    private let filter: ConnectionFilter
    private let accepts: PacketPredicate?
    /// The diagnosis of the flows so far; `nil` if it was not requested.
    package private(set) var diagnosis: CaptureDiagnosis?
    private(set) var excludedCount = 0
    /// The flows that are diagnosed; `nil` if all flows are diagnosed.
    private let selection: FlowSelection?
    private let deliversParts: Bool
    /// Whether each flow is shown, by flow number.
    private var isShown: [Bool] = []

    package init(
        limits: ConversationLimits, filter: ConnectionFilter, observer: (any InspectionObserver)?,
        accepts: PacketPredicate? = nil, tunnels: TunnelReading = .opened, measures: Bool = false,
        diagnosing scope: DiagnosisScope = .none, share: ConnectionShare = .all
    ) {
        var limits = limits
        // Without an observer, nothing consumes the streams.
        if observer == nil { limits.deliversParts = false }
        analysis = CaptureAnalysis(limits: limits, share: share, tunnels: tunnels, screens: scope.isScreened)
        deliversParts = limits.deliversParts
        self.filter = filter
        self.observer = observer
        self.accepts = accepts
        self.measures = measures
        selection = scope.selection
        diagnosis = scope.isDiagnosis ? CaptureDiagnosis(watchesStalls: scope.selection == nil) : nil
    }

    /// Analyzes the next bytes of a file, which `reader` splits into packets.
    mutating func take(_ chunk: Span<UInt8>, through reader: inout CaptureFileReader) throws(CaptureFileError) {
        if let selection {
            return try CaptureAnalysis.select(chunk, through: &reader, of: selection) { record, bytes in
                take(record, bytes)
            }
        }
        guard observer == nil, accepts == nil, !measures, diagnosis == nil else {
            try reader.feed(chunk) { record, bytes in take(record, bytes) }
            return
        }
        // Without an observer, only unusual packets need to be reported.
        try analysis.pass(chunk, through: &reader) { _, summary in Self.note(summary, in: &anomalies) }
    }

    package mutating func take(_ record: CaptureRecord, _ bytes: Span<UInt8>) {
        if let accepts, !accepts(record, bytes) {
            excludedCount += 1
            return
        }
        guard observer != nil || measures || diagnosis != nil else {
            let summary = analysis.pass(
                bytes, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                index: record.index)
            if let summary { Self.note(summary, in: &anomalies) }
            return
        }
        let summary = analysis.add(
            bytes, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
            index: record.index)
        guard let summary else {
            if let (number, report) = analysis.takeICMPError() { take(report, of: number, comments: record.comments) }
            return
        }
        diagnose(summary, bytes)
        Self.note(summary, in: &anomalies)
        if measures {
            while summary.conversation >= timings.count { timings.append(ConnectionTiming()) }
            timings[summary.conversation].note(summary)
        }
        guard let observer else { return }
        show(summary, record, bytes, to: observer)
        for number in analysis.takeConversationsWithReleasedParts() { showRest(of: number, to: observer) }
    }

    private mutating func diagnose(_ summary: PacketSummary, _ bytes: Span<UInt8>) {
        guard let segment = analysis.lastSegment, let needsFacts = diagnosis?.needsFacts(summary),
            selection?.contains(segment.source, segment.destination) ?? true
        else { return }
        let facts =
            needsFacts
            ? analysis.table.conversations.withConversation(at: summary.conversation) { ConversationFacts($0) } : nil
        diagnosis?.note(summary, segment, payload: bytes.extracting(segment.payload), facts)
    }

    private mutating func take(_ report: ICMPErrors.Report, of number: Int, comments: [String]) {
        diagnosis?.note(report, of: number)
        guard let observer, number < isShown.count, isShown[number] else { return }
        observer.observe(report, comments: comments, in: analysis.table.conversations[number])
    }

    private static func note(_ summary: PacketSummary, in anomalies: inout [ConnectionAnomalies]) {
        guard ConnectionAnomalies.isOne(summary) else { return }
        while summary.conversation >= anomalies.count { anomalies.append(ConnectionAnomalies()) }
        anomalies[summary.conversation].note(summary)
    }

    private mutating func show(
        _ summary: PacketSummary, _ record: CaptureRecord, _ bytes: Span<UInt8>, to observer: any InspectionObserver
    ) {
        let number = summary.conversation
        if number >= isShown.count { isShown.append(filter.includes(analysis.table.conversations[number])) }
        let parts = deliversParts ? analysis.takeParts(of: number, from: summary.side) : []
        guard isShown[number] else { return }
        let conversation = analysis.table.conversations[number]
        var packet = InspectedPacket(summary: summary, comments: record.comments)
        var payload = 0..<0
        if let segment = analysis.lastSegment {
            payload = segment.payload
            packet.segment = segment
            packet.sacks = segment.sacks(acknowledging: summary.relativeAcknowledgment)
        }
        packet.isWindowFull = conversation.isWindowFull(by: summary)
        packet.isWindowScaled = summary.flags.contains(.syn) || conversation.isWindowScaled(from: summary.side)
        observer.observe(packet, payload: bytes.extracting(payload), in: conversation)
        for part in parts { observer.observe(part, from: summary.side, in: conversation) }
    }

    /// Passes to the observer the parts of a connection's streams that no packet completed.
    private mutating func showRest(of number: Int, to observer: any InspectionObserver) {
        for side in ConversationSide.allCases {
            let parts = deliversParts ? analysis.takeParts(of: number, from: side) : []
            guard isShown[number] else { continue }
            for part in parts { observer.observe(part, from: side, in: analysis.table.conversations[number]) }
        }
    }

    /// Merges the result of a pass over another share of the same capture. Both passes must have finished.
    mutating func merge(_ other: consuming InspectionPass) {
        let others = other.anomalies
        let own = anomalies
        let otherDiagnosis = other.diagnosis
        let numbers = analysis.merge(other.takeAnalysis())
        if let otherDiagnosis { diagnosis?.merge(otherDiagnosis, numbers) }
        guard !own.isEmpty || !others.isEmpty else { return }
        anomalies = [ConnectionAnomalies](
            repeating: ConnectionAnomalies(), count: numbers.own.count + numbers.other.count)
        for (old, counts) in own.enumerated() { anomalies[numbers.own[old]] = counts }
        for (old, counts) in others.enumerated() { anomalies[numbers.other[old]] = counts }
    }

    /// Returns the report of a flow, based on the packets read so far.
    package func report(_ number: Int) -> ConnectionReport {
        ConnectionReport(
            analysis.table.conversations[number],
            number < anomalies.count ? anomalies[number] : ConnectionAnomalies())
    }

    private mutating func takeAnalysis() -> CaptureAnalysis {
        var taken = CaptureAnalysis()
        swap(&taken, &analysis)
        return taken
    }

    /// Completes the pass at the end of the capture.
    package mutating func finish() {
        analysis.finish()
        for (number, count) in analysis.icmpErrors.conversations {
            while number >= anomalies.count { anomalies.append(ConnectionAnomalies()) }
            anomalies[number].note(icmpErrors: count)
        }
        guard let observer else { return }
        for number in isShown.indices {
            showRest(of: number, to: observer)
            if isShown[number] { observer.end(of: analysis.table.conversations[number]) }
        }
    }
}

extension CaptureAnalysis {
    /// A sentence with the number of packets whose flows exceeded the limit on flows and were not followed; `nil` if
    /// all flows were followed.
    package var unfollowed: String? {
        guard unfollowedCount > 0 else { return nil }
        let flows = table.conversations.count
        return "\(ByteText.count(unfollowedCount, "packet")) of later flows were not followed: only the first "
            + "\(ByteText.count(flows, "flow")) \(flows == 1 ? "is" : "are")"
    }
}

/// The analysis of one share of a capture's connections on its own thread.
///
/// Other threads may use this object only after the thread has been joined.
private final class ShareWork: @unchecked Sendable {
    let number: Int
    let chunks: SharedChunks
    private(set) var pass: InspectionPass
    private(set) var reader: CaptureFileReader
    private(set) var problem: InspectionProblem?

    init(
        _ number: Int, of count: Int, limits: ConversationLimits, tunnels: TunnelReading, view: LinkView,
        diagnosing scope: DiagnosisScope, chunks: SharedChunks
    ) {
        self.number = number
        reader = CaptureFileReader(view: view)
        self.chunks = chunks
        pass = InspectionPass(
            limits: limits, filter: ConnectionFilter(), observer: nil, tunnels: tunnels, diagnosing: scope,
            share: ConnectionShare(number, of: count))
    }

    func run() {
        // The pass is moved to a local variable while it runs, because each access to a property of a class is checked
        // for exclusivity.
        var pass = InspectionPass(limits: .passing, filter: ConnectionFilter(), observer: nil)
        swap(&pass, &self.pass)
        do throws(CaptureFileError) {
            while true {
                let chunk = chunks.next(number)
                if chunk.count == 0 { break }
                try pass.take(chunk.bytes.span.extracting(0..<chunk.count), through: &reader)
                if pass.analysis.table.hasReachedTotal { chunks.stop() }
            }
            problem = chunks.failure.map { .source($0) }
            if problem == nil { try reader.finish() }
        } catch {
            problem = .file(error)
            // The other shares need not be notified of the error, because their analyses find the same error at the
            // same byte.
            chunks.leave(number)
        }
        pass.finish()
        swap(&pass, &self.pass)
    }

    /// Transfers ownership of the result to the caller.
    func takePass() -> InspectionPass {
        var pass = InspectionPass(limits: .passing, filter: ConnectionFilter(), observer: nil)
        swap(&pass, &self.pass)
        return pass
    }
}

extension Inspection {
    /// Returns the same result as a single analysis, computed by two threads that each analyze a share of the
    /// connections. Returns `nil` if the shares together may have reached a limit that applies to all connections, or
    /// if no thread could be started. The file must then be read again.
    static func shared(
        _ source: borrowing CaptureSource, limits: ConversationLimits, tunnels: TunnelReading, view: LinkView,
        diagnosing scope: DiagnosisScope = .none
    ) -> Inspection? {
        guard let descriptor = source.plainDescriptor else { return nil }
        let chunks = SharedChunks(descriptor, readers: 2)
        let work = (0..<2).map { number in
            ShareWork(
                number, of: 2, limits: limits, tunnels: tunnels, view: view, diagnosing: scope, chunks: chunks)
        }
        let (own, other) = (work[0], work[1])
        let thread: WorkerThread
        do throws(SystemError) {
            thread = try WorkerThread("share", signals: .blocked) { other.run() }
        } catch {
            return nil
        }
        own.run()
        thread.join()
        var pass = own.takePass()
        let others = other.takePass()
        guard !isTooMuch(pass.analysis.table, others.analysis.table, limits) else { return nil }
        // The pass is consumed, because all connections would be copied if it had two owners.
        pass.merge(consume others)
        return Inspection(
            analysis: pass.analysis, anomalies: pass.anomalies, timings: [], diagnosis: pass.diagnosis,
            interfaces: own.reader.interfaces,
            keyLog: own.reader.keyLog, packetCount: own.reader.packetCount - own.reader.leftOutCount, excludedCount: 0,
            problem: own.problem)
    }

    /// Returns whether a single analysis might have exceeded the limits. If the sum of the two shares' peaks is within
    /// the limits, a single analysis would not have exceeded them.
    private static func isTooMuch(_ one: ConversationTable, _ other: ConversationTable, _ limits: ConversationLimits)
        -> Bool
    {
        one.hasReachedTotal || other.hasReachedTotal || one.peakHeldBytes + other.peakHeldBytes > limits.totalBytes
            || one.conversations.count + other.conversations.count > limits.maxConversations
    }

    /// The minimum size of a file that is analyzed on several threads. Reading a file of this size takes much longer
    /// than starting a thread.
    private static let smallestSharedFile = 1 << 20

    static func workers(for source: borrowing CaptureSource) -> Int {
        source.size < smallestSharedFile ? 1 : processors
    }

    private static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
}
