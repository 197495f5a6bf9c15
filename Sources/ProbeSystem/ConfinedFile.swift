import CShims
import Glibc

/// Reads files in a folder and its subfolders on behalf of scripts. Paths and symbolic links that point outside the
/// folder are rejected, and only regular files are opened.
package struct ConfinedFile {
    private let root: Folder
    /// Whether `openat2` is used; `false` in tests that simulate a kernel without it or a sandbox that refuses it.
    private let usesOpenat2: Bool

    package init(in root: Folder, usesOpenat2: Bool = true) {
        self.root = root
        self.usesOpenat2 = usesOpenat2
    }

    /// Returns the contents of a file.
    ///
    /// - Parameter path: the path relative to the folder. Links are followed if they stay within the folder.
    /// - Throws: `EXDEV` if the path leaves the folder, `EISDIR` for a folder, `EINVAL` for any other file that is not
    ///   regular, `EFBIG` for more than `limit` bytes.
    package func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        // The file's type is checked before the file is opened, because opening some devices has side effects, and
        // opening a pipe blocks.
        let found = try place(path)
        guard let status = FileStatus(of: found.raw) else { throw SystemError("stat") }
        if status.isFolder { throw SystemError("open", code: EISDIR) }
        guard status.isRegular else { throw SystemError("open", code: EINVAL, "not a regular file") }
        if status.size > limit { throw SystemError("read", code: EFBIG) }
        let file = try open(path)
        guard FileStatus(of: file.raw)?.identity == status.identity else {
            throw SystemError("open", code: ESTALE, "it was replaced in the meantime")
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

    /// Opens the path component by component without following links. If a component is a link, the components of its
    /// target are processed next. `..` returns to the descriptor of the parent folder, so renaming a folder in the
    /// meantime has no effect.
    private func walk(_ path: String, _ flags: Int32) throws(SystemError) -> OwnedDescriptor {
        func parts(_ path: String) throws(SystemError) -> [Substring] {
            if path.isEmpty { throw SystemError("open", code: ENOENT) }
            if path.hasPrefix("/") { throw SystemError("open", code: EXDEV) }
            // A path that ends with a slash must refer to a folder. A final `.` has the same effect.
            return Array((path.hasSuffix("/") ? path + "." : path).split(separator: "/").reversed())
        }
        var folders = [root]
        // The components are in reverse order, so the next component is the last element.
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
