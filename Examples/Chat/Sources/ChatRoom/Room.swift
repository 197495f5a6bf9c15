import NIOCore

/// The members of the room. All methods run on one event loop.
final class Room {
    /// A member of the room.
    struct Member {
        let name: String
        let channel: any Channel
    }

    private var members: [ObjectIdentifier: Member] = [:]

    /// The reason why a line was refused.
    enum Refusal: String {
        case badName = "error:a name must be 1 to 32 bytes of UTF-8 without a colon"
        case taken = "error:this name is already taken"
        case alreadyIn = "error:you already have a name"
        case notIn = "error:introduce yourself first with iam:NAME"
        case unknown = "error:a line must begin with iam: or msg:"
    }

    /// The maximum number of unsent bytes for one member. A member that reads too slowly is disconnected, so that the
    /// other members need not wait.
    static let longestQueue = 256 * 1024

    func name(of channel: any Channel) -> String? { members[ObjectIdentifier(channel)]?.name }

    func join(_ bytes: [UInt8], _ channel: any Channel) -> Refusal? {
        guard members[ObjectIdentifier(channel)] == nil else { return .alreadyIn }
        guard 1...32 ~= bytes.count, !bytes.contains(UInt8(ascii: ":")),
            let name = String(validating: bytes, as: UTF8.self)
        else { return .badName }
        // Names are compared by their bytes, so two names that look the same can be different.
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

    /// Sends a line to all members, and disconnects each member with too many unsent bytes.
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
