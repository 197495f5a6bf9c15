/// One WebSocket frame (RFC 6455, section 5.2). The frame may be invalid: its fields are encoded without checks.
package struct WebSocketFrame: Sendable, Equatable {
    package enum Opcode {
        package static let continuation: UInt8 = 0
        package static let text: UInt8 = 1
        package static let binary: UInt8 = 2
        package static let close: UInt8 = 8
        package static let ping: UInt8 = 9
        package static let pong: UInt8 = 10
    }

    package enum CloseCode {
        /// The code that APIs report for a close without a code (RFC 6455, section 7.1.5). The code is never sent in a
        /// frame.
        package static let none: UInt16 = 1005
    }

    /// How the length of the payload is encoded.
    package enum LengthForm: Int, Sendable, CaseIterable {
        /// The length is in the second byte of the header.
        case inHeader = 1
        case twoBytes = 2
        case eightBytes = 8

        /// The largest length that this form can represent. RFC 6455, section 5.2 requires the highest bit of the
        /// longest form to be 0, but a script can set this bit.
        package var largest: UInt64 {
            switch self {
            case .inHeader: 125
            case .twoBytes: 0xFFFF
            case .eightBytes: .max
            }
        }
    }

    package var isFinal = true
    /// The reserved bits, as a sum: RSV1 is 4, RSV2 is 2 and RSV3 is 1.
    package var reserved: UInt8 = 0
    /// The opcode, 0 to 15.
    package var opcode: UInt8
    /// The masking key of four bytes; `nil` for an unmasked frame.
    package var key: [UInt8]?
    package var payload: [UInt8]
    /// The length in the header, if it differs from the length of the payload.
    package var statedLength: UInt64?
    /// The form of the length, if it is not the shortest form that fits.
    package var lengthForm: LengthForm?

    /// Returns the name of a frame with this opcode, including the article.
    package static func name(of opcode: UInt8) -> String {
        switch opcode {
        case Opcode.continuation: "a continuation"
        case Opcode.text: "a text frame"
        case Opcode.binary: "a binary frame"
        case Opcode.close: "a close"
        case Opcode.ping: "a ping"
        case Opcode.pong: "a pong"
        default: "a frame with opcode \(opcode)"
        }
    }

    /// The frame as text, for example `a text frame (no FIN, RSV 4)`.
    package var description: String {
        var notes: [String] = []
        if !isFinal { notes.append("no FIN") }
        if reserved != 0 { notes.append("RSV \(reserved)") }
        if key != nil { notes.append("masked") }
        if let form = lengthForm { notes.append("length in \(form.rawValue) bytes") }
        if let code = closeCode { notes.append("code \(code)") }
        return Self.name(of: opcode) + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }

    /// The name that RFC 6455 gives the opcode; `nil` for a reserved opcode.
    package var opcodeName: String? {
        switch opcode {
        case Opcode.continuation: "continuation"
        case Opcode.text: "text"
        case Opcode.binary: "binary"
        case Opcode.close: "close"
        case Opcode.ping: "ping"
        case Opcode.pong: "pong"
        default: nil
        }
    }

    package init(_ opcode: UInt8, _ payload: [UInt8]) {
        self.opcode = opcode
        self.payload = payload
    }

    package static func close(_ code: UInt16?, _ reason: [UInt8] = []) -> WebSocketFrame {
        WebSocketFrame(Opcode.close, (code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + reason)
    }

    /// Encodes the frame.
    ///
    /// - Returns: the encoded frame; `nil` if the length does not fit in the form that ``lengthForm`` selects.
    package func encoded() -> [UInt8]? {
        let length = statedLength ?? UInt64(payload.count)
        let shortest = LengthForm.allCases.first { length <= $0.largest } ?? .eightBytes
        let form = lengthForm ?? shortest
        guard length <= form.largest else { return nil }
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | (reserved & 7) << 4 | opcode & 15]
        bytes.reserveCapacity(payload.count + 14)
        let maskBit: UInt8 = key == nil ? 0 : 0x80
        switch form {
        case .inHeader: bytes.append(maskBit | UInt8(length))
        case .twoBytes: bytes += [maskBit | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        case .eightBytes:
            bytes.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
        guard let key, key.count == 4 else { return bytes + payload }
        bytes += key
        let start = bytes.count
        bytes += payload
        Self.mask(&bytes, from: start, with: key)
        return bytes
    }

    /// Masks or unmasks the bytes from an index to the end (RFC 6455, section 5.3).
    package static func mask(_ bytes: inout [UInt8], from start: Int, with key: [UInt8]) {
        let (a, b, c, d) = (key[0], key[1], key[2], key[3])
        bytes.withUnsafeMutableBufferPointer { bytes in
            var index = start
            while index + 4 <= bytes.count {
                bytes[index] ^= a
                bytes[index + 1] ^= b
                bytes[index + 2] ^= c
                bytes[index + 3] ^= d
                index += 4
            }
            for (offset, byte) in [a, b, c].enumerated() where index + offset < bytes.count {
                bytes[index + offset] ^= byte
            }
        }
    }
}

extension WebSocketFrame {
    /// The result of reading the beginning of a stream.
    package enum Scan: Equatable {
        /// More bytes are needed. `total` is the length of the frame, if the header is complete.
        case incomplete(total: Int?)
        /// The stream begins with a frame of `length` bytes.
        case frame(WebSocketFrame, length: Int)
        /// The length of the frame exceeds the limit.
        case tooLong(UInt64)
    }

    /// Reads and unmasks a frame. The frame is not checked for violations of RFC 6455, such as reserved bits, reserved
    /// opcodes, or a length in a longer form than needed.
    ///
    /// - Parameter limit: the maximum length of the payload.
    package static func scan(_ bytes: Span<UInt8>, limit: Int) -> Scan {
        guard bytes.count >= 2 else { return .incomplete(total: nil) }
        let isMasked = bytes[1] & 0x80 != 0
        let form: LengthForm =
            switch bytes[1] & 0x7F {
            case 127: .eightBytes
            case 126: .twoBytes
            default: .inHeader
            }
        let width = form == .inHeader ? 0 : form.rawValue
        let headerLength = 2 + width + (isMasked ? 4 : 0)
        guard bytes.count >= 2 + width else { return .incomplete(total: nil) }
        var length = UInt64(bytes[1] & 0x7F)
        if width > 0 {
            length = 0
            for index in 2..<2 + width { length = length << 8 | UInt64(bytes[index]) }
        }
        guard length <= UInt64(limit) else { return .tooLong(length) }
        let total = headerLength + Int(length)
        guard bytes.count >= total else { return .incomplete(total: total) }
        var payload: [UInt8] = []
        if length > 0 {
            payload = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
                for index in 0..<Int(length) { buffer.initializeElement(at: index, to: bytes[headerLength + index]) }
                count = Int(length)
            }
        }
        var frame = WebSocketFrame(bytes[0] & 15, [])
        if isMasked {
            let key = (0..<4).map { bytes[2 + width + $0] }
            frame.key = key
            mask(&payload, from: 0, with: key)
        }
        frame.payload = payload
        frame.isFinal = bytes[0] & 0x80 != 0
        frame.reserved = bytes[0] >> 4 & 7
        let shortest = LengthForm.allCases.first { length <= $0.largest }
        if shortest != form { frame.lengthForm = form }
        return .frame(frame, length: total)
    }
}

/// The type of a WebSocket data message (RFC 6455, section 5.6). The raw values are the keywords in scripts and in the
/// adapter protocol.
public enum WebSocketMessageKind: String, Sendable, CaseIterable {
    /// The content is UTF-8.
    case text
    /// The content is any sequence of bytes.
    case binary
}

/// The violations of RFC 6455 in a frame.
extension WebSocketFrame {
    /// Returns what is wrong with the frame, such as `was not masked: a client must mask every frame (RFC 6455, 5.1)`;
    /// `nil` if the frame is valid.
    ///
    /// The reserved bits must be 0, because no extension is negotiated. This function does not check whether a text is
    /// UTF-8, because only a complete message can be checked.
    ///
    /// - Parameter peerIsClient: whether the frame was sent by a client.
    package func violation(peerIsClient: Bool) -> String? {
        if peerIsClient, key == nil { return "was not masked: a client must mask every frame (RFC 6455, section 5.1)" }
        if !peerIsClient, key != nil { return "was masked: a server must not mask frames (RFC 6455, section 5.1)" }
        if reserved != 0 { return "has reserved bits set, but no extension was negotiated (RFC 6455, section 5.2)" }
        if let form = lengthForm {
            return "encodes its length in \(form.rawValue) bytes, although fewer would suffice (RFC 6455, section 5.2)"
        }
        switch opcode {
        case Opcode.continuation, Opcode.text, Opcode.binary: return nil
        case Opcode.close, Opcode.ping, Opcode.pong: return violationOfControl
        default: return "has a reserved opcode (RFC 6455, section 5.2)"
        }
    }

    private var violationOfControl: String? {
        if !isFinal { return "has no FIN: a control frame must not be fragmented (RFC 6455, section 5.5)" }
        if payload.count > 125 {
            return "has a payload of \(payload.count) bytes: a control frame can have at most 125 "
                + "(RFC 6455, section 5.5)"
        }
        guard opcode == Opcode.close, !payload.isEmpty else { return nil }
        guard let code = closeCode else {
            return "has a payload of one byte: a close frame must begin with a two-byte code or have no payload "
                + "(RFC 6455, section 5.5.1)"
        }
        guard Self.mayBeSent(code: code) else {
            return "has the code \(code), which must not be sent (RFC 6455, section 7.4)"
        }
        if String(validating: payload.dropFirst(2), as: UTF8.self) == nil {
            return "has a reason that is not valid UTF-8 (RFC 6455, section 5.5.1)"
        }
        return nil
    }

    /// The status code of a close frame; `nil` if the frame contains no status code.
    package var closeCode: UInt16? {
        opcode == Opcode.close && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    /// Returns whether a status code may be sent. The codes 1000 to 2999 belong to the protocol and its registry;
    /// higher codes belong to frameworks and applications (RFC 6455, section 7.4.2).
    package static func mayBeSent(code: UInt16) -> Bool {
        switch code {
        case 1004, 1005, 1006, 1015: false
        case 1000...1014, 3000...4999: true
        default: false
        }
    }
}
