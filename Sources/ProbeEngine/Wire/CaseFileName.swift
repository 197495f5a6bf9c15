import ProbeBase

/// The file name of a case's capture. It consists of letters, digits, `-`, `_` and `.`, and is safe in any shell and
/// file system.
///
/// Different captures of a run have different names. `.` appears only between the parts (id, subject, round), `__`
/// stands for a slash in the id, and `_` followed by two uppercase hexadecimal digits stands for any other byte. For
/// example, `x.2` is round 2 of `x`, and `x_2E2` is the case `x.2`.
package enum CaseFileName {
    /// Returns the file name of a case's capture.
    ///
    /// - Parameters:
    ///   - subject: the name of the subject; `nil` if the run has only one subject.
    ///   - round: the number of the repetition; the name omits the number of the first repetition.
    /// - Returns: the name without `.pcapng`.
    package static func of(id: String, subject: String?, round: Int) -> String {
        var name = escaped(id)
        if let subject {
            var part = escaped(subject)
            // A part that consists only of digits would be mistaken for the number of the round.
            if part.utf8.allSatisfy(isDigit), let first = part.utf8.first { part = hex(first) + part.dropFirst() }
            name += "." + part
        }
        // A file name has at most 255 bytes, including the round and the suffix. A shortened name is longer than any
        // name that needs no shortening, so shortened and other names can't collide.
        if name.utf8.count > longest {
            let digest = SHA256.digest(Array(name.utf8)).prefix(16)
            name = String(name.prefix(longest)) + "-" + digest.map { hex($0).dropFirst() }.joined()
        }
        return round > 1 ? "\(name).\(round)" : name
    }

    private static let longest = 180

    static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        // No id contains a null byte, so the escape of a null byte can represent an empty id.
        if bytes.isEmpty { return hex(0) }
        var name = ""
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "/"): name += "__"
            case UInt8(ascii: "_") where isUnambiguous(bytes[(index + 1)...]): name += "_"
            case UInt8(ascii: "-") where index > 0: name += "-"
            case _ where isDigit(byte) || isLetter(byte): name.unicodeScalars.append(UnicodeScalar(byte))
            default: name += hex(byte)
            }
        }
        return name
    }

    /// Whether a `_` followed by the given bytes can't be mistaken for the start of an escape.
    private static func isUnambiguous(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let next = rest.first else { return true }
        if next == UInt8(ascii: "-") { return true }
        guard isDigit(next) || isLetter(next) else { return false }
        return !rest.prefix(2).allSatisfy { isDigit($0) || (65...70).contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    private static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF")
        return "_" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}
