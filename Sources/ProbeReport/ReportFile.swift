import ProbeBase
import Glibc
import ProbeEvents
import ProbeSystem
import Synchronization

/// A report that is written to a temporary file beside its path and renamed when it is complete.
///
/// The file that was at the path is removed when the run begins, so a report at the path is always complete and of the
/// last run. A path that is no ordinary file (a pipe, `/dev/stdout`) is written to directly.
package final class ReportFile: Sendable {
    private enum Output: ~Copyable {
        case direct(DirectOutput)
        case replacement(ReplacementFile)
        case finished
    }

    /// Identifies a file, however its path is written.
    private struct Key: Hashable {
        var folder: FileStatus.Identity
        var name: String
    }

    /// The files that this process is writing: no two reports may share one.
    private static let open = Mutex<Set<Key>>([])
    /// The files that were removed before their reports were opened, which take over their permissions.
    private static let removed = Mutex<[Key: FileStatus]>([:])

    /// As the user wrote it.
    package let path: String
    /// Nil if the path itself is written to.
    private let key: Key?
    private let output: Mutex<Output>
    /// Used if the report is written to standard output and a CI's runner reads that.
    private let filter: Mutex<WorkflowCommandFilter>?

    /// Opens the temporary file, and removes the file at the path.
    ///
    /// - Parameters:
    /// - keepsOld: the file at the path stays until the new one replaces it.
    /// - isReadByRunner: a CI's runner reads this process's output and looks for commands in it.
    package init(_ path: String, keepsOld: Bool = false, isReadByRunner: Bool = false) throws(ReportFileError) {
        self.path = path
        do throws(SystemError) {
            if let direct = try DirectOutput.open(path) {
                key = nil
                filter = isReadByRunner && direct.isOwnOutput ? Mutex(WorkflowCommandFilter()) : nil
                output = Mutex(.direct(direct))
                return
            }
            let place = try FilePlace(path)
            let key = Key(folder: try place.folder.status().identity, name: place.name)
            guard ReportFile.open.withLock({ $0.insert(key).inserted }) else { throw SystemError("open", code: EBUSY) }
            do throws(SystemError) {
                let file = try ReplacementFile(
                    place.name, in: place.folder, replacing: ReportFile.removed.withLock { $0[key] })
                if !keepsOld, unlinkat(place.folder.raw, place.name, 0) < 0, errno != ENOENT {
                    throw SystemError("unlink")
                }
                self.key = key
                filter = nil
                output = Mutex(.replacement(file))
            } catch {
                ReportFile.release(key)
                throw error
            }
        } catch {
            throw ReportFileError(path: path, error)
        }
    }

    /// Removes the file at a path, before the report there is opened.
    ///
    /// - Parameter file: the file that the path was opened as: another one is left alone.
    package static func remove(_ path: String, openedAs file: Int32) {
        // What can't be accessed here is reported when the report is opened.
        guard let place = try? FilePlace(path), let folder = try? place.folder.status().identity,
            let status = place.status, status.identity == FileStatus(of: file)?.identity
        else { return }
        if let kept = ReplacementFile.keptStatus(of: place.name, in: place.folder) {
            removed.withLock { $0[Key(folder: folder, name: place.name)] = kept }
        }
        unlinkat(place.folder.raw, place.name, 0)
    }

    /// An unfinished report is removed.
    deinit {
        if let key, !isFinished { ReportFile.release(key) }
    }

    private var isFinished: Bool {
        output.withLock { output in
            switch output {
            case .finished: true
            case .direct: false
            case .replacement: false
            }
        }
    }

    private static func release(_ key: Key) { open.withLock { _ = $0.remove(key) } }

    /// Adds bytes to the report.
    package func append(_ bytes: [UInt8]) throws(ReportFileError) {
        let bytes = filter?.withLock { $0.filtered(bytes) } ?? bytes
        let code: Int32? = output.withLock { output in
            do throws(SystemError) {
                switch output {
                case .direct(let file): try file.write(bytes)
                case .replacement(let file): try file.write(bytes)
                case .finished: return EBADF
                }
                return nil
            } catch {
                return error.code
            }
        }
        if let code { throw ReportFileError(path: path, code: code) }
    }

    /// Renames the complete report to its path. Later calls do nothing.
    package func finish() throws(ReportFileError) {
        let code: Int32? = output.withLock { output in
            var last = Output.finished
            swap(&last, &output)
            guard case .replacement(var file) = consume last else { return nil }
            if let key { ReportFile.release(key) }
            do throws(SystemError) { try file.finish() } catch { return error.code }
            return nil
        }
        if let code { throw ReportFileError(path: path, code: code) }
    }
}

/// A report could not be written.
package struct ReportFileError: Error, Equatable, CustomStringConvertible {
    package var path: String
    /// errno.
    package var code: Int32
    /// The system's message.
    private var reason: String

    package init(path: String, code: Int32) {
        self.init(path: path, SystemError("write", code: code))
    }

    fileprivate init(path: String, _ error: SystemError) {
        self.path = path
        code = error.code
        reason = error.reason
    }

    package var description: String {
        let reason = code == EBUSY ? "another report of this run goes there" : reason
        return "the report \(Escaped.text(path)) can't be written: \(reason)"
    }
}
