import NIOCore

/// Who is in the room, and what each is told. All of it happens on one event loop.
final class Room {
    /// What a member is written.
    struct Member {
        let name: String
        let channel: any Channel
    }

    private var members: [ObjectIdentifier: Member] = [:]

    /// Why somebody may not come in.
    enum Refusal: String {
        case badName = "error:a name has 1 to 32 bytes of UTF-8 and no colon"
        case taken = "error:this name is taken"
        case alreadyIn = "error:you have a name"
        case notIn = "error:say who you are, as iam:NAME"
        case unknown = "error:a line begins with iam: or msg:"
    }

    /// How many bytes may wait for one member. Who reads more slowly than the others talk must go: the room waits for nobody.
    static let longestQueue = 256 * 1024

    func name(of channel: any Channel) -> String? { members[ObjectIdentifier(channel)]?.name }

    func join(_ bytes: [UInt8], _ channel: any Channel) -> Refusal? {
        guard members[ObjectIdentifier(channel)] == nil else { return .alreadyIn }
        guard 1...32 ~= bytes.count, !bytes.contains(UInt8(ascii: ":")),
            let name = String(validating: bytes, as: UTF8.self)
        else { return .badName }
        // As bytes: two names that look the same may differ.
        guard !members.values.contains(where: { $0.name.utf8.elementsEqual(bytes) }) else { return .taken }
        members[ObjectIdentifier(channel)] = Member(name: name, channel: channel)
        tellAll(Array("\(name) has joined".utf8))
        return nil
    }

    func say(_ text: [UInt8], _ channel: any Channel) -> Refusal? {
        guard let member = members[ObjectIdentifier(channel)] else { return .notIn }
        tellAll(Array(member.name.utf8) + [UInt8(ascii: ":")] + text)
        return nil
    }

    func leave(_ channel: any Channel) {
        guard let member = members.removeValue(forKey: ObjectIdentifier(channel)) else { return }
        tellAll(Array("\(member.name) has left".utf8))
    }

    /// Writes a line to everybody; who has too much waiting is not asked again.
    private func tellAll(_ line: [UInt8]) {
        for member in members.values {
            if member.channel.isWritable {
                member.channel.writeAndFlush(Self.line(line, member.channel), promise: nil)
            } else {
                member.channel.close(promise: nil)
            }
        }
    }

    static func line(_ bytes: [UInt8], _ channel: any Channel) -> ByteBuffer {
        var buffer = channel.allocator.buffer(capacity: bytes.count + 1)
        buffer.writeBytes(bytes)
        buffer.writeInteger(UInt8(ascii: "\n"))
        return buffer
    }
}
