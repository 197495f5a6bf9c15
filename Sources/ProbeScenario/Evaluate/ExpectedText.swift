package import ProbeBase
package import ProbeRegex

/// The expected text of a line or message.
package enum ExpectedText: Sendable {
    case value([UInt8])
    case regex(ByteRegex)
    case any

    package func described(as noun: String) -> String {
        switch self {
        case .value(let bytes): "\(noun) \(Escaped.phrase(bytes))"
        case .regex(let regex): "\(noun) /\(regex.source)/"
        case .any: "a \(noun)"
        }
    }

    /// Returns the groups of the regex if the bytes match; `nil` otherwise.
    package func match(_ bytes: [UInt8]) -> [(String, Value)]? {
        switch self {
        case .any: return []
        case .value(let expected): return bytes == expected ? [] : nil
        case .regex(let regex):
            guard let match = regex.firstMatch(in: bytes.span) else { return nil }
            return match.groups.map { ($0.name, .bytes($0.range.map { Array(bytes[$0]) } ?? [])) }
        }
    }

    /// Whether the bytes match. This check is cheaper than extracting the groups.
    package func fits(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .any: true
        case .value(let expected): bytes == expected
        case .regex(let regex): regex.containsMatch(in: bytes)
        }
    }

    package var value: [UInt8]? {
        if case .value(let bytes) = self { bytes } else { nil }
    }
}

/// A WebSocket frame that must be received exactly as the script states it.
package struct ExpectedFrame: Sendable {
    package enum Mask: Sendable {
        /// The frame is masked if the sender is a client, and unmasked if the sender is a server.
        case asMust
        case unmasked
        /// The frame is masked with any key.
        case masked
        case key([UInt8])
    }

    package var frame: WebSocketFrame
    package var mask: Mask

    package init(_ frame: WebSocketFrame, _ mask: Mask) { (self.frame, self.mask) = (frame, mask) }
}
