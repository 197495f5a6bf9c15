/// A set of byte values, which represents a character class.
struct ByteSet: Sendable, Hashable {
    private var words: (low: UInt64, lowMiddle: UInt64, highMiddle: UInt64, high: UInt64) = (0, 0, 0, 0)

    static let all = ByteSet().inverted
    static let digits = ByteSet(UInt8(ascii: "0")...UInt8(ascii: "9"))
    static let upper = ByteSet(UInt8(ascii: "A")...UInt8(ascii: "Z"))
    static let lower = ByteSet(UInt8(ascii: "a")...UInt8(ascii: "z"))
    /// The word characters of `\w` and `\b`: ASCII letters, digits and `_`.
    static let word = digits.union(upper).union(lower).union(ByteSet(UInt8(ascii: "_")))
    /// The characters that `\s` matches: space and `\t \n \v \f \r`.
    static let space = ByteSet(0x09...0x0D).union(ByteSet(0x20))

    init() {}

    init(_ byte: UInt8) { insert(byte) }

    init(_ range: ClosedRange<UInt8>) {
        for byte in range { insert(byte) }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word =
            switch byte >> 6 {
            case 0: words.low
            case 1: words.lowMiddle
            case 2: words.highMiddle
            default: words.high
            }
        return (word &>> UInt64(byte & 63)) & 1 != 0
    }

    /// The only member of the set; `nil` if the set is empty or has several members.
    var onlyMember: UInt8? {
        let words = [words.low, words.lowMiddle, words.highMiddle, words.high]
        guard words.reduce(0, { $0 + $1.nonzeroBitCount }) == 1, let place = words.firstIndex(where: { $0 != 0 })
        else { return nil }
        return UInt8(place * 64 + words[place].trailingZeroBitCount)
    }

    mutating func insert(_ byte: UInt8) {
        let bit = 1 as UInt64 &<< UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.low |= bit
        case 1: words.lowMiddle |= bit
        case 2: words.highMiddle |= bit
        default: words.high |= bit
        }
    }

    mutating func formUnion(_ other: ByteSet) {
        words.low |= other.words.low
        words.lowMiddle |= other.words.lowMiddle
        words.highMiddle |= other.words.highMiddle
        words.high |= other.words.high
    }

    func union(_ other: ByteSet) -> ByteSet {
        var result = self
        result.formUnion(other)
        return result
    }

    var inverted: ByteSet {
        var result = self
        result.words = (~words.low, ~words.lowMiddle, ~words.highMiddle, ~words.high)
        return result
    }

    /// The set with both cases of each ASCII letter that it contains.
    var caseFolded: ByteSet {
        var result = self
        // All ASCII letters are in the second 64-bit word, and the two cases of a letter are 32 bits apart.
        let letters: UInt64 = 0x07FF_FFFE
        let either = (words.lowMiddle | words.lowMiddle >> 32) & letters
        result.words.lowMiddle |= either | either << 32
        return result
    }

    /// The only byte in the set; `nil` if the set is empty or has several bytes.
    var onlyByte: UInt8? {
        guard count == 1 else { return nil }
        return (0...255 as ClosedRange<UInt8>).first(where: contains)
    }

    var count: Int {
        words.low.nonzeroBitCount + words.lowMiddle.nonzeroBitCount + words.highMiddle.nonzeroBitCount
            + words.high.nonzeroBitCount
    }

    static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.low)
        hasher.combine(words.lowMiddle)
        hasher.combine(words.highMiddle)
        hasher.combine(words.high)
    }
}

extension ByteSet {
    /// Returns the ASCII class of `[:name:]`; `nil` if there is no class with this name.
    static func posix(_ name: String) -> ByteSet? {
        switch name {
        case "alpha": upper.union(lower)
        case "digit": digits
        case "alnum": upper.union(lower).union(digits)
        case "upper": upper
        case "lower": lower
        case "space": space
        case "blank": ByteSet(0x20).union(ByteSet(0x09))
        case "cntrl": ByteSet(0x00...0x1F).union(ByteSet(0x7F))
        case "graph": ByteSet(0x21...0x7E)
        case "print": ByteSet(0x20...0x7E)
        case "punct":
            ByteSet(0x21...0x2F).union(ByteSet(0x3A...0x40)).union(ByteSet(0x5B...0x60)).union(ByteSet(0x7B...0x7E))
        case "xdigit":
            digits.union(ByteSet(UInt8(ascii: "a")...UInt8(ascii: "f")))
                .union(ByteSet(UInt8(ascii: "A")...UInt8(ascii: "F")))
        case "word": word
        case "ascii": ByteSet(0x00...0x7F)
        default: nil
        }
    }
}
