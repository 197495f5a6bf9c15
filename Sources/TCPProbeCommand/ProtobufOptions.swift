import ArgumentParser
import ProbeBase
import ProbeInspect
import ProbeSystem

/// The options that make `--framing` show messages as Protobuf.
struct ProtobufOptions: ParsableArguments {
    @Flag(
        name: .customLong("protobuf"),
        help:
            "With --framing, decode each message as protobuf and show field numbers; for a length-delimited stream, use --framing varint."
    )
    var isOn = false

    @Option(
        help: ArgumentHelp(
            "With --protobuf, a descriptor set with the names, as written by protoc --include_imports --descriptor_set_out=FILE.",
            valueName: "file"),
        completion: .file())
    var proto: String?

    @Option(help: ArgumentHelp("With --proto, the name of the message type, such as demo.Point.", valueName: "name"))
    var message: String?

    /// Checks that the options can be used together.
    ///
    /// - Parameter modes: the other options that determine what is shown.
    func validate(framing: Framing?, modes: [String]) throws {
        guard isOn || proto != nil || message != nil else { return }
        let option = isOn ? "--protobuf" : proto != nil ? "--proto" : "--message"
        if !isOn { throw ValidationError("\(option) requires --protobuf") }
        if (proto == nil) != (message == nil) {
            throw ValidationError(
                proto == nil
                    ? "--message requires --proto FILE, which contains the names"
                    : "--proto requires --message NAME, the type of the messages in the stream")
        }
        if let mode = modes.first { throw ValidationError("--protobuf and \(mode) are mutually exclusive") }
        if framing == nil {
            throw ValidationError(
                "--protobuf requires --framing, because protobuf does not mark where a message ends; for a length-delimited stream, use --framing varint"
            )
        }
    }

    /// Returns the format for messages; `nil` if they are not shown as Protobuf.
    func text() throws -> ProtobufText? {
        guard isOn else { return nil }
        guard let proto, let message else { return ProtobufText() }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: proto, limit: Self.largestSet)
        } catch {
            throw Failure.invalidUsage("--proto \(Escaped.text(proto)): can't read the file: \(error.reason)")
        }
        let schema: ProtobufSchema
        do throws(ProtobufSchema.Problem) { schema = try ProtobufSchema(bytes) } catch {
            throw Failure.invalidUsage(
                "--proto \(Escaped.text(proto)): \(error.text); create one with protoc --include_imports --descriptor_set_out=FILE"
            )
        }
        let name = message.hasPrefix(".") ? String(message.dropFirst()) : message
        guard schema.messages[name] != nil else {
            let known = schema.messages.keys.sorted()
            let shown = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
            throw Failure.invalidUsage(
                "--message \(Escaped.text(message)): \(Escaped.text(proto)) has no such message; it has \(shown)")
        }
        return ProtobufText(schema: schema, name: name)
    }

    /// The maximum size of a descriptor set, in bytes. Most descriptor sets take a few KiB, and the largest sets take a
    /// few MiB.
    private static let largestSet = 64 << 20
}
