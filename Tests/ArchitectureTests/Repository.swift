import Glibc

/// Reads the files of this repository as text.
enum Repository {
    static let root: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    /// Returns the text of a file; `nil` if the file does not exist.
    static func text(_ path: String) -> String? {
        guard let file = fopen("\(root)/\(path)", "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// The Swift files in `Sources`, with their texts.
    static let sources = files(below: "Sources", ending: ".swift").map { (path: $0, text: text($0) ?? "") }

    static func exists(_ path: String) -> Bool { access("\(root)/\(path)", F_OK) == 0 }

    /// Returns the names of the entries of a folder, excluding hidden files.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir("\(root)/\(folder)") else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the paths of all files below a folder whose names end in `ending`.
    static func files(below folder: String, ending: String) -> [String] {
        names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            if isFolder(path) { return files(below: path, ending: ending) }
            return name.hasSuffix(ending) ? [path] : []
        }
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat("\(root)/\(path)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
