import ProbeInspect
import ProbeWire

/// Returns the diagnosis of a capture with one connection, which `build` adds packet by packet.
func diagnosis(
    port: UInt16 = 80, _ build: (inout CaptureBuilder, inout CaptureBuilder.Connection) -> Void
) throws -> DiagnosisReport {
    var capture = CaptureBuilder()
    var connection = CaptureBuilder.Connection(client: 40_000, server: port)
    build(&capture, &connection)
    return try diagnosis(capture.bytes)
}

/// Returns the diagnosis of a capture.
func diagnosis(_ bytes: [UInt8]) throws -> DiagnosisReport {
    let folder = try TemporaryFolder()
    let path = try folder.write("capture", bytes)
    return Inspection.diagnosing(try CaptureSource(path: path)).diagnosis(ConnectionFilter())
}
