import ProbeSystem
import Glibc
import ProbeWire

/// One share of a capture's connections, analysed on one thread.
///
/// Other threads may use it only after that thread was joined.
private final class ShareWork: @unchecked Sendable {
    let number: Int
    let chunks: SharedChunks
    private(set) var pass: InspectionPass
    private(set) var reader: CaptureFileReader
    private(set) var problem: InspectionProblem?

    init(
        _ number: Int, of count: Int, limits: ConversationLimits, tunnels: TunnelReading, view: LinkView,
        chunks: SharedChunks
    ) {
        self.number = number
        reader = CaptureFileReader(view: view)
        self.chunks = chunks
        pass = InspectionPass(
            limits: limits, filter: ConnectionFilter(), observer: nil, tunnels: tunnels,
            share: ConnectionShare(number, of: count))
    }

    func run() {
        // A local variable while it runs: a property of a class is checked for exclusive access each time.
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
            // The other shares find the same error at the same byte, or have found it.
            chunks.leave(number)
        }
        pass.finish()
        swap(&pass, &self.pass)
    }

    /// Passes the ownership of the result to the caller.
    func takePass() -> InspectionPass {
        var pass = InspectionPass(limits: .passing, filter: ConnectionFilter(), observer: nil)
        swap(&pass, &self.pass)
        return pass
    }
}

extension Inspection {
    /// The same result as of one analysis, by two threads with a share of the connections each. Nil if the shares
    /// together may have reached a limit that applies to all of them, or if no thread can be started: then the file
    /// must be read again.
    static func shared(
        _ source: borrowing CaptureSource, limits: ConversationLimits, tunnels: TunnelReading, view: LinkView
    ) -> Inspection? {
        guard let descriptor = source.plainDescriptor else { return nil }
        let chunks = SharedChunks(descriptor, readers: 2)
        let own = ShareWork(0, of: 2, limits: limits, tunnels: tunnels, view: view, chunks: chunks)
        let other = ShareWork(1, of: 2, limits: limits, tunnels: tunnels, view: view, chunks: chunks)
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
        // Moved on: with two owners, all connections would be copied.
        pass.merge(consume others)
        return Inspection(
            analysis: pass.analysis, anomalies: pass.anomalies, timings: [], interfaces: own.reader.interfaces,
            keyLog: own.reader.keyLog, packetCount: own.reader.packetCount - own.reader.leftOutCount, excludedCount: 0,
            problem: own.problem)
    }

    /// Whether one analysis might have exceeded the limits. It would not if the peaks of both shares together are
    /// within them.
    private static func isTooMuch(_ one: ConversationTable, _ other: ConversationTable, _ limits: ConversationLimits)
        -> Bool
    {
        one.hasReachedTotal || other.hasReachedTotal || one.mostHeldBytes + other.mostHeldBytes > limits.totalBytes
            || one.conversations.count + other.conversations.count > limits.mostConversations
    }

    /// Reading a file of this size takes much longer than starting a thread.
    private static let smallestSharedFile = 1 << 20

    static func workers(for source: borrowing CaptureSource) -> Int {
        source.size < smallestSharedFile ? 1 : processors
    }

    private static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
}
