import ProbeSystem
import Glibc
import ProbeWire

/// One share of a capture's connections, analysed on a thread of its own or beside one.
///
/// Only the thread that runs it touches it until that has been joined.
private final class ShareWork: @unchecked Sendable {
    let number: Int
    let chunks: SharedChunks
    private(set) var pass: InspectionPass
    private(set) var reader = CaptureFileReader()
    private(set) var problem: InspectionProblem?

    init(_ number: Int, of count: Int, limits: ConversationLimits, chunks: SharedChunks) {
        self.number = number
        self.chunks = chunks
        pass = InspectionPass(
            limits: limits, filter: ConnectionFilter(), observer: nil, share: ConnectionShare(number, of: count))
    }

    func run() {
        // Taken out while it runs: what a class holds is checked for its owner at each access.
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
            // The other ones come to the same at the same byte, or have.
            chunks.leave(number)
        }
        pass.finish()
        swap(&pass, &self.pass)
    }

    /// Gives up what it made.
    func takePass() -> InspectionPass {
        var pass = InspectionPass(limits: .passing, filter: ConnectionFilter(), observer: nil)
        swap(&pass, &self.pass)
        return pass
    }
}

extension Inspection {
    /// As one analysis of all, by two threads, each with a share of the connections; nil where the shares together might
    /// have reached a limit that is for all of them, or there is no thread to be had: then the file is to be read again.
    static func shared(_ source: borrowing CaptureSource, limits: ConversationLimits) -> Inspection? {
        guard let descriptor = source.plainDescriptor else { return nil }
        let chunks = SharedChunks(descriptor, readers: 2)
        let own = ShareWork(0, of: 2, limits: limits, chunks: chunks)
        let other = ShareWork(1, of: 2, limits: limits, chunks: chunks)
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
        pass.merge(others)
        return Inspection(
            analysis: pass.analysis, anomalies: pass.anomalies, interfaces: own.reader.interfaces,
            packetCount: own.reader.packetCount, problem: own.problem)
    }

    /// Where the most that each held is within the limit, what one analysis would have held is.
    private static func isTooMuch(_ one: ConversationTable, _ other: ConversationTable, _ limits: ConversationLimits)
        -> Bool
    {
        one.hasReachedTotal || other.hasReachedTotal || one.mostHeldBytes + other.mostHeldBytes > limits.totalBytes
            || one.conversations.count + other.conversations.count > limits.mostConversations
    }

    /// A thread is started in a fraction of what a file of this size takes.
    private static let smallestSharedFile = 1 << 20

    static func workers(for source: borrowing CaptureSource) -> Int {
        source.size < smallestSharedFile ? 1 : processors
    }

    private static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
}
