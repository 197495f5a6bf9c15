package import ProbeBase

/// The places of a stream where a cut most often shows a bug.
package enum LikelyOffsets {
    /// The most places of one kind: a stream of many lines has each kind of place in its first ones.
    private static let most = 24
    /// Sizes of read buffers that programs often have.
    private static let bufferSizes = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]

    /// - Parameter length: offsets lie below it.
    /// - Returns: the places, the most promising ones first, none of them twice.
    package static func of(_ bytes: [UInt8], length: Int, framing: Framing) -> [Int] {
        let kinds = [
            insideTerminators(bytes, framing), [1], prefix(framing), insideCharacters(bytes), [length - 1],
            besideTerminators(bytes, framing), bufferSizes.flatMap { [$0, $0 - 1, $0 + 1] }, [2, 4, 3],
        ]
        var seen: Set<Int> = []
        return kinds.flatMap { $0.filter { $0 > 0 && $0 < length }.prefix(most) }.filter { seen.insert($0).inserted }
    }

    /// Inside the length before each message, and right behind it.
    private static func prefix(_ framing: Framing) -> [Int] {
        switch framing {
        case .u8: [1]
        case .u16, .u16le: [1, 2]
        case .u24: [1, 2, 3]
        case .u32, .u32le: [1, 2, 4, 3]
        case .u64: [1, 4, 7, 8]
        case .varint, .netstring, .websocket: [1, 2, 3]
        case .crlf, .lf, .cr, .nul, .none, .delimiter: []
        }
    }

    private static func terminators(_ framing: Framing) -> [[UInt8]] {
        var result: [[UInt8]] = [[13, 10], [10], [0]]
        if let own = framing.terminator, !result.contains(own) { result.insert(own, at: 0) }
        return result
    }

    private static func insideTerminators(_ bytes: [UInt8], _ framing: Framing) -> [Int] {
        terminators(framing).filter { $0.count > 1 }.flatMap { terminator in
            places(of: terminator, in: bytes).flatMap { place in (1..<terminator.count).map { place + $0 } }
        }
    }

    private static func besideTerminators(_ bytes: [UInt8], _ framing: Framing) -> [Int] {
        terminators(framing).flatMap { terminator in
            places(of: terminator, in: bytes).flatMap { [$0 + terminator.count, $0] }
        }
    }

    /// Where an occurrence begins; at most as many as are of use.
    private static func places(of terminator: [UInt8], in bytes: [UInt8]) -> [Int] {
        var places: [Int] = []
        var index = 0
        while index + terminator.count <= bytes.count, places.count < most {
            if bytes[index..<index + terminator.count].elementsEqual(terminator) {
                places.append(index)
                index += terminator.count
            } else {
                index += 1
            }
        }
        return places
    }

    /// Before each byte that continues a character of UTF-8.
    private static func insideCharacters(_ bytes: [UInt8]) -> [Int] {
        bytes.indices.lazy.filter { bytes[$0] & 0xC0 == 0x80 }.prefix(most).map(\.self)
    }
}
