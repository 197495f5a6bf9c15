import ProbeBase
import Glibc
import ProbeEvents
import ProbeSystem
import Synchronization

/// Writes a report to a temporary file in the same folder as its path, and renames the file when it is complete.
///
/// The previous file at the path is removed at the beginning of the run. A report at the path is therefore always
/// complete and from the last run. If the path is not a regular file (a pipe, `/dev/stdout`), it is written to
/// directly.
package final class ReportFile: Sendable {
    private enum Output: ~Copyable {
        case direct(DirectOutput)
        case replacement(ReplacementFile)
        case finished
    }

    /// The identity of a file, regardless of how its path is written.
    private struct Key: Hashable {
        var folder: FileStatus.Identity
        var name: String
    }

    /// The files to which this process is writing; two reports must not share a file.
    private static let open = Mutex<Set<Key>>([])
    /// The files that were removed before their reports were opened; each report restores the permissions of the
    /// removed file.
    private static let removed = Mutex<[Key: FileStatus]>([:])

    /// The path as given by the user.
    package let path: String
    /// The identity of the file; `nil` if the path is written to directly.
    private let key: Key?
    private let output: Mutex<Output>
    /// The filter for a report that is written to standard output, if a CI runner reads that output.
    private let filter: Mutex<WorkflowCommandFilter>?

    /// Opens the temporary file and removes the file at the path.
    ///
    /// - Parameters:
    ///   - keepsOld: whether the file at the path is preserved until the new one replaces it.
    ///   - isReadByRunner: whether a CI runner reads the output of this process and looks for commands in it.
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

    /// Removes the file at a path, before the report at this path is opened.
    ///
    /// - Parameter file: a descriptor of the file that may be removed. If the path refers to any other file, nothing is
    ///   removed.
    package static func remove(_ path: String, openedAs file: Int32) {
        // A path that can't be accessed is reported as an error when the report is opened.
        guard let place = try? FilePlace(path), let folder = try? place.folder.status().identity,
            let status = place.status, status.identity == FileStatus(of: file)?.identity
        else { return }
        if let kept = ReplacementFile.keptStatus(of: place.name, in: place.folder) {
            removed.withLock { $0[Key(folder: folder, name: place.name)] = kept }
        }
        unlinkat(place.folder.raw, place.name, 0)
    }

    /// Releases the path of an unfinished report; its temporary file is removed when `output` is released.
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

    /// Appends bytes to the report.
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

    /// Renames the complete report to its final path. Later calls have no effect.
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

/// The error that prevented a report from being written.
package struct ReportFileError: Error, Equatable, CustomStringConvertible {
    package var path: String
    /// The error number (`errno`).
    package var code: Int32
    /// The system's message for the error number.
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
        let reason = code == EBUSY ? "another report of this run is written to the same file" : reason
        return "the report \(Escaped.text(path)) can't be written: \(reason)"
    }
}
