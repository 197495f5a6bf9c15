extension ByteSet {
    /// The class that `[:name:]` stands for, in ASCII; nil when there is none of this name.
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
