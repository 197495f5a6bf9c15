import CShims
import Glibc

/// Files beneath a folder, for scripts: no path and no symbolic link leads out of it, and nothing but a regular file is opened.
package struct ConfinedFile {
    private let root: Folder
    /// False: as where the kernel has no `openat2`, or a sandbox refuses it.
    private let usesOpenat2: Bool

    package init(in root: Folder, usesOpenat2: Bool = true) {
        self.root = root
        self.usesOpenat2 = usesOpenat2
    }

    /// The bytes of a file.
    ///
    /// - Parameter path: starts at the folder. Links are followed that stay in it.
    /// - Throws: `EXDEV` for what leads out of it, `EISDIR` for a folder, `EINVAL` for what is no regular file, `EFBIG` for more than
    ///   `limit` bytes.
    package func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        // What is there is looked at before it is opened: opening alone makes some devices act, and waits at a pipe.
        let found = try place(path)
        guard let status = FileStatus(of: found.raw) else { throw SystemError("stat") }
        if status.isFolder { throw SystemError("open", code: EISDIR) }
        guard status.isRegular else { throw SystemError("open", code: EINVAL, "it is no regular file") }
        if status.size > limit { throw SystemError("read", code: EFBIG) }
        let file = try open(path)
        guard FileStatus(of: file.raw)?.identity == status.identity else {
            throw SystemError("open", code: ESTALE, "it was exchanged meanwhile")
        }
        let bytes = try SmallFile.contents(of: file, limit: limit + 1)
        if bytes.count > limit { throw SystemError("read", code: EFBIG) }
        return bytes
    }

    private static let reading = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK

    private func place(_ path: String) throws(SystemError) -> OwnedDescriptor {
        try lookUp(path, PROBE_O_PATH)
    }

    private func open(_ path: String) throws(SystemError) -> OwnedDescriptor {
        try lookUp(path, ConfinedFile.reading)
    }

    private func lookUp(_ path: String, _ flags: Int32) throws(SystemError) -> OwnedDescriptor {
        if usesOpenat2 {
            let raw = probe_open_beneath(root.raw, path, flags)
            if raw >= 0 { return OwnedDescriptor(raw) }
            if errno != ENOSYS && errno != EPERM { throw SystemError("open") }
        }
        return try walk(path, flags)
    }

    /// Part by part, each without following a link: links are read here, and their parts put in front of the rest. A `..` goes back to
    /// the folder that is held open, whatever is renamed meanwhile.
    private func walk(_ path: String, _ flags: Int32) throws(SystemError) -> OwnedDescriptor {
        func parts(_ path: String) throws(SystemError) -> [Substring] {
            if path.isEmpty { throw SystemError("open", code: ENOENT) }
            if path.hasPrefix("/") { throw SystemError("open", code: EXDEV) }
            // A slash at the end asks for a folder, as `.` does.
            return Array((path.hasSuffix("/") ? path + "." : path).split(separator: "/").reversed())
        }
        var folders = [root]
        // The next part is the last one.
        var rest = try parts(path)
        var links = 0
        while let part = rest.popLast() {
            guard let current = folders.last else { break }
            if part == "." && !rest.isEmpty { continue }
            if part == ".." {
                if folders.count == 1 { throw SystemError("open", code: EXDEV) }
                folders.removeLast()
                if rest.isEmpty { rest = ["."] }
                continue
            }
            let found = Folder(taking: probe_open_path(current.raw, String(part), O_NOFOLLOW))
            guard let found else { throw SystemError("open") }
            let status = try found.status()
            if status.isLink {
                links += 1
                if links > 40 { throw SystemError("open", code: ELOOP) }
                rest += try parts(try found.linkText())
            } else if !rest.isEmpty {
                if !status.isFolder { throw SystemError("open", code: ENOTDIR) }
                folders.append(found)
            } else {
                let raw = openat(current.raw, String(part), flags | O_NOFOLLOW | O_CLOEXEC)
                if raw < 0 { throw SystemError("open") }
                return OwnedDescriptor(raw)
            }
        }
        throw SystemError("open", code: EISDIR)
    }
}
