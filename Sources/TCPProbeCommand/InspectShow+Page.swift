import ArgumentParser
import Glibc
import ProbeBase
import ProbeInspect
import ProbeReport
import ProbeSystem
import ProbeTransport
import ProbeWire

/// That a page shows what TLS has encrypted, and with which secrets.
struct PageDecryption {
    /// The path of a key log; nil for the secrets in the capture.
    var keyLog: String?
}

extension InspectShow {
    /// Writes the page of `--html`.
    ///
    /// A file is read once for all flows, and once more for those that are shown in full. A pipe can be read once only: then the
    /// first flows of the capture are shown in full, in whatever order the table is.
    func page(_ source: consuming CaptureSource, to path: String, decryption: PageDecryption?) -> Int32 {
        if let code = refusal(of: path, source.isRegular, decryption) { return code }
        // Told before a large file is read. A pipe is opened once only: its reader would take the first close for the end.
        let isOrdinary =
            path != "-" && FileStatus(at: path).map { [S_IFREG, S_IFDIR].contains($0.mode & S_IFMT) } ?? true
        if isOrdinary, let failure = open(path).failure { return fail(page: "\(failure); another path", code: 2) }
        let isRegular = source.isRegular
        let observer = FlowsPageObserver(limit: FlowsPage.mostFlows, decrypts: decryption != nil)
        let inspection: Inspection
        var filter = filter
        if isRegular {
            inspection = Inspection.of(source, accepts: accepts, tunnels: tunnels, view: view, measures: measures)
            filter = criteria.applied(to: filter, in: inspection)
            if inspection.problem?.isWrongUse != true, let code = readAgain(inspection, filter, observer) {
                return code
            }
        } else {
            inspection = Inspection.of(
                source, limits: .handingOut, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels,
                view: view, measures: measures)
        }
        if inspection.problem?.isWrongUse == true { return end(inspection) }
        if let number = filter.number, number >= inspection.analysis.table.conversations.count,
            inspection.problem == nil
        {
            return finish(inspection)
        }
        var remarks: [Int: String] = [:]
        var code: Int32 = 0
        if let decryption {
            let end = decrypt(observer, inspection, decryption)
            if let wrongUse = end.wrongUse { return fail(wrongUse, code: 2) }
            remarks = end.remarks
            if let failure = end.failure { code = fail(failure, code: 3) }
        }
        let page = FlowsPage(
            inspection, filter: filter,
            options: FlowsPage.Options(
                name: file == "-" ? "standard input" : file, columns: columns, order: options.sort,
                version: ProductVersion.text, isDecrypted: decryption != nil),
            records: observer.records, remarks: remarks)
        if let failure = write(page, to: path) { return failure }
        if isOrdinary { tell(inspection.count(filter), observer.records.count, path) }
        return max(code, end(inspection))
    }

    /// The exit code if the options don't fit the files.
    private func refusal(of path: String, _ isRegular: Bool, _ decryption: PageDecryption?) -> Int32? {
        if let target = FileStatus(at: path)?.identity, target == FileStatus(at: file)?.identity, path != "-", isRegular
        {
            return fail("--html \(Escaped.text(path)): this is the capture itself; another path", code: 2)
        }
        if let log = decryption?.keyLog, let target = FileStatus(at: path), target.isRegular,
            target.identity == FileStatus(at: log)?.identity
        {
            return fail("--html \(Escaped.text(path)): this is the file of --key-log; another path", code: 2)
        }
        if !criteria.isOpen, !isRegular {
            output.flush()
            return Failure.wrongUse("--with and --since need a file that can be read twice, no pipe").rawValue
        }
        guard let decryption else { return nil }
        if Tshark() == nil { return fail("--decrypt \(Tshark.advice)", code: 3) }
        return missing(keyLog: decryption.keyLog)
    }

    /// Gathers what is shown of the first flows of the page.
    ///
    /// - Returns: the exit code if the file could not be opened again.
    private func readAgain(_ inspection: Inspection, _ filter: ConnectionFilter, _ observer: FlowsPageObserver)
        -> Int32?
    {
        let numbers = FlowsPage.numbers(inspection, filter, options.sort).prefix(FlowsPage.mostFlows)
        if numbers.isEmpty { return nil }
        var chosen = ConnectionFilter()
        chosen.numbers = Set(numbers)
        do throws(CaptureSourceError) {
            let source = try CaptureSource(path: file)
            _ = Inspection.of(
                source, limits: .handingOut, filter: chosen, observer: observer, accepts: accepts, tunnels: tunnels,
                view: view)
            return nil
        } catch {
            return self.report(.source(error))
        }
    }

    private struct DecryptionEnd {
        /// By the number of the flow, why nothing of it was decrypted.
        var remarks: [Int: String] = [:]
        var failure: String?
        var wrongUse: String?
    }

    /// Adds what tshark decrypts of the flows that have TLS.
    private func decrypt(
        _ observer: FlowsPageObserver, _ inspection: Inspection, _ decryption: PageDecryption
    ) -> DecryptionEnd {
        var end = DecryptionEnd()
        guard let tshark = Tshark() else {
            end.failure = "--decrypt \(Tshark.advice)"
            return end
        }
        let encrypted = observer.records.keys.sorted().compactMap { observer.encrypted($0) }
        if encrypted.isEmpty { end.failure = "no flow on the page has TLS in it" }
        if end.failure != nil { return end }
        for flow in encrypted {
            guard let number = flow.conversation?.number else { continue }
            if let failure = show(flow, tshark, decryption.keyLog) {
                end.remarks[number] = "What TLS has encrypted is not shown: \(failure)."
            }
        }
        if end.remarks.count == encrypted.count {
            // With a NULL cipher none are needed.
            if decryption.keyLog == nil, inspection.keyLog.isEmpty { end.wrongUse = Self.noSecrets }
            end.failure = end.remarks.values.min()
        }
        return end
    }

    /// Opens the page's file. What is at the path stays until the page is complete.
    private func open(_ path: String) -> (report: ReportFile?, failure: ReportFileError?) {
        do throws(ReportFileError) {
            return (try ReportFile(path, keepsOld: true, isReadByRunner: Console.isReadByRunner), nil)
        } catch {
            return (nil, error)
        }
    }

    /// The temporary file is there for a moment only, so that nothing stays of an inspection that is interrupted.
    ///
    /// - Returns: the exit code if it could not be written.
    private func write(_ page: FlowsPage, to path: String) -> Int32? {
        let bytes = Array(page.text.utf8)
        if path == "-" {
            output.write(bytes)
            return nil
        }
        let opened = open(path)
        if let failure = opened.failure { return fail(page: "\(failure)", code: 3) }
        do throws(ReportFileError) {
            try opened.report?.append(bytes)
            try opened.report?.finish()
            return nil
        } catch {
            return fail(page: "\(error)", code: 3)
        }
    }

    private func fail(page text: String, code: Int32) -> Int32 {
        output.flush()
        Console.standardError.write("error: \(text)\n")
        return code
    }

    private func tell(_ flows: Int, _ full: Int, _ path: String) {
        let some = full < flows ? ", \(full) of them in full" : ""
        output.write("\(ByteText.count(flows, "flow")) in \(Escaped.text(path))\(some)\n")
    }
}
