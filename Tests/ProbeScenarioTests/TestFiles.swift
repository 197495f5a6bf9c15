import Glibc

/// The files in `Tests/Golden`.
enum TestFiles {
    static func path(_ name: String) -> String {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(2)
        return (parts + ["Golden", Substring(name)]).joined(separator: "/")
    }

    static func bytes(of name: String) -> [UInt8] {
        guard let file = fopen(path(name), "rb") else { return [] }
        defer { fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count <= 0 { return result }
            result += buffer[..<count]
        }
    }

    static func text(of name: String) -> String { String(decoding: bytes(of: name), as: UTF8.self) }

    static func write(_ text: String, to name: String) {
        guard let file = fopen(path(name), "wb") else { return }
        defer { fclose(file) }
        let bytes = Array(text.utf8)
        fwrite(bytes, 1, bytes.count, file)
    }
}
