import Glibc
import ProbeBase
import ProbeSystem

/// The captures that earlier runs left in the capture folder. These captures are moved to a separate folder, so that
/// they aren't mistaken for captures of the current run.
///
/// A run holds a lock on the folder. While the lock is held, other runs that use the same folder don't move any
/// captures.
final class EarlierCaptures {
    /// The name of the separate folder, inside the capture folder.
    static let folderName = Folder.earlierName

    private let folder: Folder
    /// The descriptor that holds the lock. The descriptor is closed when the process exits.
    private let lock: Int32

    init(_ folder: Folder) {
        self.folder = folder
        lock = openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    /// Moves the captures of earlier runs to a separate folder.
    ///
    /// - Returns: the number of captures that were moved.
    func moveAside() -> Int {
        guard lock >= 0 else { return 0 }
        defer { _ = flock(lock, LOCK_SH | LOCK_NB) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { return 0 }
        let names = (SmallFile.names(in: "/proc/self/fd/\(lock)") ?? []).filter { $0.hasSuffix(".pcapng") }
        let own = names.filter(isOwn)
        guard !own.isEmpty else { return 0 }
        do throws(SystemError) {
            let target = try folder.earlier()
            return own.count { renameat(folder.raw, $0, target.raw, $0) == 0 }
        } catch {
            return 0
        }
    }

    /// Returns whether the file was written by a run of this program: its header names the program and contains a
    /// comment with a case.
    private func isOwn(_ name: String) -> Bool {
        let raw = openat(folder.raw, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { return false }
        let file = OwnedDescriptor(raw)
        guard FileStatus(of: file.raw)?.isRegular == true else { return false }
        var head = [UInt8](repeating: 0, count: 4096)
        let count = read(file.raw, &head, head.count)
        guard count >= 28 else { return false }
        return Self.isRunCapture(Array(head[..<count]))
    }

    /// Returns whether the beginning of a file shows that the file is a capture of a run.
    ///
    /// - Parameter head: the first bytes of the file.
    static func isRunCapture(_ head: [UInt8]) -> Bool {
        func little(_ offset: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(head[offset + $1]) << (8 * $1) }
        }
        guard head.count >= 28, little(0, 4) == 0x0a0d_0d0a, little(8, 4) == 0x1a2b_3c4d else { return false }
        let end = min(little(4, 4) - 4, head.count)
        var (isOwnProgram, hasCase) = (false, false)
        var offset = 24
        while offset + 4 <= end {
            let (code, length) = (little(offset, 2), little(offset + 2, 2))
            let value = head[(offset + 4)..<min(offset + 4 + length, end)]
            if code == 0 { break }
            // In a pcapng section header block, option 1 is a comment, and option 4 is the name of the program that
            // wrote the file.
            if code == 1, value.starts(with: Array("case ".utf8)) { hasCase = true }
            if code == 4, value.starts(with: Array("tcpprobe ".utf8)) { isOwnProgram = true }
            offset += 4 + (length + 3) / 4 * 4
        }
        return isOwnProgram && hasCase
    }
}
