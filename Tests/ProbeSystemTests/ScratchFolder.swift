import Glibc
import Testing

@testable import ProbeSystem

/// A folder that is removed at the end of this value's lifetime.
struct ScratchFolder: ~Copyable {
    let path: String

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/tcpprobe-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        do {
            try Folder(String(path[..<slash])).remove(String(path[path.index(after: slash)...]), identity: nil)
        } catch {
            Issue.record("\(path) can't be removed: \(error)")
        }
    }

    var names: [String] { (SmallFile.names(in: path) ?? []).sorted() }

    func folder(_ name: String) throws -> String {
        try #require(mkdir("\(path)/\(name)", 0o755) == 0)
        return "\(path)/\(name)"
    }

    func write(_ name: String, _ text: String) throws -> String {
        let file = try #require(fopen("\(path)/\(name)", "wb"))
        defer { fclose(file) }
        try #require(fputs(text, file) >= 0)
        return "\(path)/\(name)"
    }

    func link(_ name: String, to target: String) throws -> String {
        try #require(symlink(target, "\(path)/\(name)") == 0)
        return "\(path)/\(name)"
    }

    func read(_ name: String) -> String? {
        SmallFile.read("\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }
}
