import ProbeBase

/// The offsets at which one direction's stream is cut, counted from the byte at which the current forwarding style took
/// effect.
struct CutPlaces {
    private let cut: Cut<Resolved>?
    private var generator: SplitMix64
    /// For a random cut, the offsets that have been determined so far, from the next offset on.
    private var places: [Int] = []
    private var lastPlace = 0
    private var index = 0

    init(_ cut: Cut<Resolved>?) {
        self.cut = cut
        if case .random(let seed)? = cut {
            generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
            places = [Self.distance(&generator)]
        } else {
            generator = SplitMix64(seed: 0)
        }
    }

    private static func distance(_ generator: inout SplitMix64) -> Int { 1 + Int(generator.next() % 64) }

    /// Returns the length of the piece that begins at `position`; `nil` if no further cut follows.
    func lengthOfPiece(at position: Int) -> Int? {
        switch cut {
        case .inPieces(let size)?: size
        case .at(let offsets)?: index < offsets.count ? offsets[index] - position : nil
        case .random?: places[0] - position
        case nil: nil
        }
    }

    /// Handles the end of a piece at `position`, and returns whether the stream is cut there.
    mutating func endPiece(at position: Int) -> Bool {
        switch cut {
        case .inPieces?: return true
        case .at(let offsets)?:
            guard index < offsets.count, offsets[index] == position else { return false }
            index += 1
            return true
        case .random?:
            guard places[0] == position else { return false }
            lastPlace = places.removeFirst()
            if places.isEmpty { places = [lastPlace + Self.distance(&generator)] }
            return true
        case nil: return false
        }
    }

    /// Moves back to `position`, because the last piece was not sent.
    mutating func goBack(to position: Int) {
        switch cut {
        case .at(let offsets)?:
            while index > 0, offsets[index - 1] > position { index -= 1 }
        case .random?:
            if lastPlace > position { places.insert(lastPlace, at: 0) }
        case .inPieces?, nil: break
        }
    }
}
