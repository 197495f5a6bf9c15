import ProbeBase

/// The name of a case's capture: letters, digits, `-`, `_` and `.`, which no shell and no file system takes amiss, not even at the start.
///
/// Two captures of a run never have one name. `.` stands only between the parts (id, subject, round), `__` is a slash of the id, and
/// `_` with two hexadecimal digits in capitals is any other byte: `x.2` is round 2 of `x`, and `x_2E2` the case `x.2`.
package enum CaseFileName {
    /// - Parameters:
    ///   - subject: nil where the run has one only.
    ///   - round: of a repetition; the first one has no number.
    /// - Returns: without `.pcapng`.
    package static func of(id: String, subject: String?, round: Int) -> String {
        var name = escaped(id)
        if let subject {
            var part = escaped(subject)
            // A number alone is a round.
            if part.utf8.allSatisfy(isDigit), let first = part.utf8.first { part = hex(first) + part.dropFirst() }
            name += "." + part
        }
        // Names are 255 bytes at most, the round and the suffix need their places. One that is cut is longer than any that is not.
        if name.utf8.count > longest {
            let digest = SHA256.digest(Array(name.utf8)).prefix(16)
            name = String(name.prefix(longest)) + "-" + digest.map { hex($0).dropFirst() }.joined()
        }
        return round > 1 ? "\(name).\(round)" : name
    }

    private static let longest = 180

    static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        // No id has this byte.
        if bytes.isEmpty { return hex(0) }
        var name = ""
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "/"): name += "__"
            case UInt8(ascii: "_") where standsForItself(bytes[(index + 1)...]): name += "_"
            case UInt8(ascii: "-") where index > 0: name += "-"
            case _ where isDigit(byte) || isLetter(byte): name.unicodeScalars.append(UnicodeScalar(byte))
            default: name += hex(byte)
            }
        }
        return name
    }

    /// Whether a `_` before these bytes can't be taken for the start of an escape.
    private static func standsForItself(_ rest: ArraySlice<UInt8>) -> Bool {
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
