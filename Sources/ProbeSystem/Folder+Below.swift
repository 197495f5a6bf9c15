import CShims
import Glibc

/// Folders and files below an open folder: no symbolic link on the way leads out of it.
extension Folder {
    /// The name of the folder that files of earlier runs are moved to, in the folder where they were.
    package static let earlierName = "earlier"

    /// How many files of one name are kept in `earlier/`.
    private static let mostEarlier = 1000

    /// Opens the folder below another one; creates what is missing of the way.
    ///
    /// - Parameter parts: the names on the way, none of them `.`, `..` or with a slash in it.
    /// - Throws: `EINVAL` for another name, `ENOTDIR` if one of them is a file or a symbolic link.
    package convenience init(making parts: [String], below folder: Folder) throws(SystemError) {
        guard let last = parts.last else {
            try self.init(".", in: folder)
            return
        }
        let parent = parts.count == 1 ? folder : try Folder(making: Array(parts.dropLast()), below: folder)
        guard Self.isName(last) else { throw SystemError("mkdir", code: EINVAL) }
        if mkdirat(parent.raw, last, 0o777) < 0, errno != EEXIST { throw SystemError("mkdir") }
        let opened = Folder(taking: probe_open_path(parent.raw, last, O_DIRECTORY | O_NOFOLLOW))
        guard let opened else { throw SystemError("open") }
        try self.init(".", in: opened)
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && !text.utf8.contains(UInt8(ascii: "/"))
    }

    /// Opens `earlier/` in this folder; creates it if it is missing. A symbolic link in its place is refused: it could lead elsewhere.
    package func earlier() throws(SystemError) -> Folder { try Folder(making: [Self.earlierName], below: self) }

    /// Moves a file, or a symbolic link as such, to `earlier/`, with a number if that name is taken there.
    ///
    /// - Returns: its name in `earlier/`; `nil` if there is no file with the name.
    @discardableResult
    package func moveToEarlier(_ name: String) throws(SystemError) -> String? {
        guard try status(of: name) != nil else { return nil }
        let earlier = try earlier()
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        var target = name
        var number = 1
        while number < Self.mostEarlier, try earlier.status(of: target) != nil {
            number += 1
            target = "\(name[..<dot]).\(number)\(name[dot...])"
        }
        if renameat(raw, name, earlier.raw, target) < 0 { throw SystemError("rename") }
        return target
    }

    /// Writes a file completely or not at all. A file of that name with other contents is moved to `earlier/` first.
    ///
    /// - Returns: the name in `earlier/` of the file that was there; `nil` if there was none, or the same one.
    @discardableResult
    package func replaceKeepingEarlier(_ name: String, with bytes: [UInt8]) throws(SystemError) -> String? {
        guard Self.isName(name) else { throw SystemError("open", code: EINVAL) }
        if holds(name, bytes) { return nil }
        let moved = try moveToEarlier(name)
        try replace(name, with: bytes)
        return moved
    }

    /// Whether the folder has a regular file with this name and these contents.
    private func holds(_ name: String, _ bytes: [UInt8]) -> Bool {
        let file = openat(raw, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return false }
        let descriptor = OwnedDescriptor(file)
        guard let status = FileStatus(of: file), status.isRegular, status.size == bytes.count else { return false }
        do throws(SystemError) {
            return try SmallFile.contents(of: descriptor, limit: bytes.count + 1) == bytes
        } catch {
            // What can't be read is taken for another file, and moved.
            return false
        }
    }
}
