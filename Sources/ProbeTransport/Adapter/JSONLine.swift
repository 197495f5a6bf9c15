import CShims

/// Builds one object as a line of ASCII, as the adapter protocol sends it.
struct JSONLine {
    private var line: [UInt8] = [UInt8(ascii: "{")]

    /// The object and its line feed.
    var bytes: [UInt8] { line + [UInt8(ascii: "}"), 10] }

    mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        line += String(number).utf8
    }

    mutating func add(_ name: StaticString, _ number: Int?) {
        if let number { add(name, number) }
    }

    mutating func add(_ name: StaticString, _ flag: Bool) {
        begin(name)
        line += (flag ? "true" : "false").utf8
    }

    mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        add(text)
    }

    mutating func add(_ name: StaticString, _ texts: [String]) {
        begin(name)
        line.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            add(text)
        }
        line.append(UInt8(ascii: "]"))
    }

    /// Bytes as a string of U+0000 to U+00FF.
    mutating func add(_ name: StaticString, latin1 bytes: [UInt8]) {
        begin(name)
        line.reserveCapacity(line.count + bytes.count + 64)
        line.append(UInt8(ascii: "\""))
        bytes.withUnsafeBytes { buffer in
            // Most of a message stands for itself, and goes in one piece.
            var rest = UnsafeRawBufferPointer(rebasing: buffer[...])
            while let base = rest.baseAddress, rest.count > 0 {
                let plain = probe_plain_json(base, rest.count)
                line.append(contentsOf: rest[..<plain])
                if plain < rest.count { add(UInt32(rest[plain])) }
                rest = UnsafeRawBufferPointer(rebasing: rest[min(plain + 1, rest.count)...])
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    private mutating func begin(_ name: StaticString) {
        if line.count > 1 { line.append(UInt8(ascii: ",")) }
        line.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { line += $0 }
        line += [UInt8(ascii: "\""), UInt8(ascii: ":")]
    }

    private mutating func add(_ text: String) {
        line.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars { add(scalar.value) }
        line.append(UInt8(ascii: "\""))
    }

    private mutating func add(_ scalar: UInt32) {
        switch scalar {
        case 0x22, 0x5c: line += [UInt8(ascii: "\\"), UInt8(scalar)]
        case 0x0a: line += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        case 0x0d: line += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
        case 0x20..<0x7f: line.append(UInt8(scalar))
        case 0..<0x10000: addUnit(scalar)
        default:
            addUnit(0xd800 + (scalar - 0x10000) >> 10)
            addUnit(0xdc00 + (scalar - 0x10000) & 0x3ff)
        }
    }

    private mutating func addUnit(_ unit: UInt32) {
        line += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
        for shift in [UInt32(12), 8, 4, 0] {
            let digit = UInt8(unit >> shift & 0xf)
            line.append(digit < 10 ? 48 + digit : 87 + digit)
        }
    }
}
