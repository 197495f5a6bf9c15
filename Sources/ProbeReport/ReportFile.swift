import Glibc
import ProbeEvents
import Synchronization

/// A report that is written beside its path and takes its place when it is complete.
///
/// What was at the path is removed when the run begins: a report that is there is whole and of the run that ended last.
/// A path that is no ordinary file (a pipe, `/dev/stdout`) is written to directly.
package final class ReportFile: Sendable {
    private struct State {
        var descriptor: Int32
        /// nil: the path itself is written to.
        var temporary: String?
        var isFinished = false
    }

    /// What this process is writing, so that two reports never share a file.
    private static let open = Mutex<Set<String>>([])

    /// As the user gave it.
    package let path: String
    private let target: String
    private let state: Mutex<State>

    /// Opens the file beside the path, and removes what is at the path.
    ///
    /// - Parameter keepsOld: what is at the path stays there until the new file takes its place.
    package init(_ path: String, keepsOld: Bool = false) throws(ReportFileError) {
        self.path = path
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            if status.st_mode & S_IFMT == S_IFDIR { throw ReportFileError(path: path, code: EISDIR) }
            target = path
            let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
            if descriptor < 0 { throw ReportFileError(path: path, code: errno) }
            state = Mutex(State(descriptor: descriptor, temporary: nil))
            return
        }
        // A symbolic link goes on pointing to the report.
        target = ReportFile.resolved(path)
        guard ReportFile.open.withLock({ [target] in $0.insert(target).inserted }) else {
            throw ReportFileError(path: path, code: EBUSY)
        }
        let temporary = "\(target).tmp\(getpid())"
        let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        if descriptor < 0 {
            let code = errno
            ReportFile.open.withLock { [target] in _ = $0.remove(target) }
            throw ReportFileError(path: path, code: code)
        }
        if !keepsOld, unlink(target) < 0, errno != ENOENT {
            let code = errno
            close(descriptor)
            unlink(temporary)
            ReportFile.open.withLock { [target] in _ = $0.remove(target) }
            throw ReportFileError(path: path, code: code)
        }
        state = Mutex(State(descriptor: descriptor, temporary: temporary))
    }

    /// Never finished: nothing is left behind.
    deinit {
        state.withLock { state in
            if state.isFinished { return }
            close(state.descriptor)
            if let temporary = state.temporary { unlink(temporary) }
            _ = ReportFile.open.withLock { $0.remove(target) }
        }
    }

    /// Adds to the file beside the path.
    package func append(_ bytes: [UInt8]) throws(ReportFileError) {
        let code = state.withLock { state in
            state.isFinished ? EBADF : ReportFile.writeAll(bytes, to: state.descriptor)
        }
        if let code { throw ReportFileError(path: path, code: code) }
    }

    /// Puts the file in its place. Later calls do nothing.
    package func finish() throws(ReportFileError) {
        let code: Int32? = state.withLock { state in
            if state.isFinished { return nil }
            state.isFinished = true
            _ = ReportFile.open.withLock { $0.remove(target) }
            // Some file systems say only here that the disk is full.
            if close(state.descriptor) < 0, errno != EINTR {
                let code = errno
                if let temporary = state.temporary { unlink(temporary) }
                return code
            }
            guard let temporary = state.temporary, rename(temporary, target) < 0 else { return nil }
            let code = errno
            unlink(temporary)
            return code
        }
        if let code { throw ReportFileError(path: path, code: code) }
    }

    /// - Returns: errno of the write that failed.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                write(descriptor, raw.baseAddress.map { $0 + offset }, raw.count - offset)
            }
            if count > 0 {
                offset += count
            } else if errno == EAGAIN {
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&poller, 1, 1000)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// The path without links and dots; of a file that is not there yet, the folder's.
    private static func resolved(_ path: String) -> String {
        if let real = real(path) { return real }
        guard let slash = path.lastIndex(of: "/") else { return (real(".") ?? ".") + "/" + path }
        let folder = path[..<slash]
        return (real(folder.isEmpty ? "/" : String(folder)) ?? String(folder)) + path[slash...]
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}

/// A report could not be written.
package struct ReportFileError: Error, Equatable, CustomStringConvertible {
    package var path: String
    /// errno.
    package var code: Int32

    package init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    package var description: String {
        let reason = code == EBUSY ? "another report of this run goes there" : String(cString: strerror(code))
        return "the report \(EscapedBytes.safeText(path)) can't be written: \(reason)"
    }
}
