import Glibc

/// Creates links between files. A link remains valid if both files are moved together.
enum RelativePath {
    /// Returns the components of the absolute path of a file's folder, without `.` and `..`. Symbolic links are not
    /// resolved.
    static func folder(of path: String) -> [String] { Array(parts(path).dropLast()) }

    /// Returns the link from a page in `folder` to the file at `path`, for use in an `href` or in Markdown. Every byte
    /// other than a letter, a digit, `-`, `.`, `_` or `/` is percent-encoded (RFC 3986, section 2.1), so that no byte
    /// has a special meaning.
    static func link(from folder: [String], to path: String) -> String {
        let target = parts(path)
        let same = zip(folder, target).prefix { $0 == $1 }.count
        let steps = Array(repeating: "..", count: folder.count - same) + target.dropFirst(same)
        return steps.map(encoded).joined(separator: "/")
    }

    private static func parts(_ path: String) -> [String] {
        var parts: [String] = []
        let absolute = path.hasPrefix("/") ? path : workingFolder + "/" + path
        for part in absolute.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts
    }

    private static var workingFolder: String {
        guard let folder = getcwd(nil, 0) else { return "" }
        defer { free(folder) }
        return String(cString: folder)
    }

    private static func encoded(_ part: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var text = ""
        for byte in part.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                text.unicodeScalars.append(UnicodeScalar(byte))
            default: text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return text
    }
}
