package import ProbeBase

/// The offsets in a stream at which a cut is most likely to reveal a bug.
package enum LikelyOffsets {
    /// The maximum number of offsets of each kind. In a stream of many lines, the first lines already contain every
    /// kind of offset.
    private static let most = 24
    /// Common sizes of read buffers.
    private static let bufferSizes = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]

    /// Returns the likely offsets without duplicates, the most promising ones first.
    ///
    /// - Parameter length: the exclusive upper bound of the offsets.
    package static func of(_ bytes: [UInt8], length: Int, framing: Framing) -> [Int] {
        let kinds = [
            insideTerminators(bytes, framing), [1], prefix(framing), insideCharacters(bytes), [length - 1],
            besideTerminators(bytes, framing), bufferSizes.flatMap { [$0, $0 - 1, $0 + 1] }, [2, 4, 3],
        ]
        var seen: Set<Int> = []
        return kinds.flatMap { $0.filter { $0 > 0 && $0 < length }.prefix(most) }.filter { seen.insert($0).inserted }
    }

    /// Returns the offsets within the length prefix of the first message, and the offset directly after the prefix.
    private static func prefix(_ framing: Framing) -> [Int] {
        switch framing.kind {
        case .lines, .undivided: []
        case .counted(.integer(let format)):
            switch format.width {
            case nil: [1, 2, 3]
            case 4: [1, 2, 4, 3]
            case let width?: [1, width / 2, width - 1, width]
            }
        case .counted, .webSocket: [1, 2, 3]
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

    /// Returns the offsets at which a terminator begins, up to the maximum number.
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

    /// Returns the offsets of the UTF-8 continuation bytes, up to the maximum number.
    private static func insideCharacters(_ bytes: [UInt8]) -> [Int] {
        bytes.indices.lazy.filter { bytes[$0] & 0xC0 == 0x80 }.prefix(most).map(\.self)
    }
}
