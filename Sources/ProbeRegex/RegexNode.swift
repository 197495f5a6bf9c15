/// An assertion about a position in the input, which consumes no byte.
enum RegexAssertion: Sendable, Equatable {
    case inputStart, inputEnd
    /// With `(?m)`, `lineStart` also holds after an LF, and `lineEnd` also holds before an LF.
    case lineStart, lineEnd
    case wordBoundary, notWordBoundary
}

/// A parsed part of a pattern.
///
/// A node stores the size of its compiled program, so that the parser can reject a pattern that would become too large
/// before any repetition is expanded.
struct RegexNode: Sendable {
    indirect enum Shape: Sendable {
        case empty
        case byte(UInt8)
        case set(ByteSet)
        case assertion(RegexAssertion)
        case sequence([RegexNode])
        case alternation([RegexNode])
        /// The integer is the index of the group among the named groups, starting at 0.
        case group(Int, RegexNode)
        case repetition(RegexNode, minimum: Int, maximum: Int?, isLazy: Bool)
    }

    let shape: Shape
    /// The number of instructions, counted as at least 1, because the compiler must visit even a node that emits none.
    let size: Int
    /// Whether the node can match without consuming a byte.
    let isNullable: Bool
    /// The maximum number of bytes that the node can match; `nil` if it has no maximum. The number never exceeds the
    /// node's size, so computing it can't overflow.
    let longest: Int?

    private init(_ shape: Shape, size: Int, isNullable: Bool, longest: Int?) {
        self.shape = shape
        self.size = size
        self.isNullable = isNullable
        self.longest = longest
    }

    static let empty = RegexNode(.empty, size: 1, isNullable: true, longest: 0)

    static func byte(_ byte: UInt8) -> RegexNode { RegexNode(.byte(byte), size: 1, isNullable: false, longest: 1) }

    static func set(_ set: ByteSet) -> RegexNode {
        if let only = set.onlyByte { return byte(only) }
        return RegexNode(.set(set), size: 1, isNullable: false, longest: 1)
    }

    static func assertion(_ assertion: RegexAssertion) -> RegexNode {
        RegexNode(.assertion(assertion), size: 1, isNullable: true, longest: 0)
    }

    /// Returns a node that matches the given bytes in sequence.
    static func literal(_ bytes: some Sequence<UInt8>) -> RegexNode { sequence(bytes.map(byte)) }

    static func sequence(_ nodes: [RegexNode]) -> RegexNode {
        if nodes.isEmpty { return empty }
        if nodes.count == 1 { return nodes[0] }
        return RegexNode(
            .sequence(nodes), size: nodes.reduce(0) { $0 + $1.size }, isNullable: nodes.allSatisfy(\.isNullable),
            longest: nodes.reduce(0) { sum, node in sum.flatMap { sum in node.longest.map { sum + $0 } } }
        )
    }

    static func alternation(_ nodes: [RegexNode]) -> RegexNode {
        if nodes.count == 1 { return nodes[0] }
        return RegexNode(
            .alternation(nodes), size: nodes.reduce(0) { $0 + $1.size + 2 },
            isNullable: nodes.contains(where: \.isNullable),
            longest: nodes.reduce(0) { most, node in most.flatMap { most in node.longest.map { max(most, $0) } } }
        )
    }

    static func group(_ number: Int, _ node: RegexNode) -> RegexNode {
        RegexNode(.group(number, node), size: node.size + 2, isNullable: node.isNullable, longest: node.longest)
    }

    /// Returns a repetition. The size can't overflow, because bounds are at most 1,000,000 and the size of a node is
    /// limited.
    static func repetition(_ node: RegexNode, minimum: Int, maximum: Int?, isLazy: Bool) -> RegexNode {
        let copies = max(maximum ?? (minimum + 1), 1)
        return RegexNode(
            .repetition(node, minimum: minimum, maximum: maximum, isLazy: isLazy), size: copies * (node.size + 1) + 1,
            isNullable: minimum == 0 || node.isNullable,
            longest: maximum.flatMap { maximum in node.longest.map { maximum * $0 } }
        )
    }
}
