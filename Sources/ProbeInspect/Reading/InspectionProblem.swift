package import ProbeWire

/// The reason why a capture file was not read to its end. The results for the part before the problem are valid.
package enum InspectionProblem: Error, Sendable, Hashable {
    case source(CaptureSourceError)
    case file(CaptureFileError)

    /// Whether nothing was read, because the file does not exist, is empty or is not a capture.
    package var isInvalidUsage: Bool {
        switch self {
        case .source(let error): return error.isInvalidUsage
        case .file(let error):
            guard error.offset == 0 else { return false }
            return switch error.reason {
            case .notACapture, .endsInside(_, 0), .unsupportedVersion: true
            default: false
            }
        }
    }

    /// The offset of the problem in the file or in its decompressed data.
    package var offset: UInt64? {
        switch self {
        case .source(.damaged(_, let offset, _)), .source(.endsInside(_, let offset)): offset
        case .source: nil
        case .file(let error): error.offset
        }
    }
}

extension InspectionProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .source(let error): return error.description
        case .file(let error):
            if case .endsInside(_, 0) = error.reason, error.offset == 0 { return "the file is empty" }
            if isInvalidUsage, case .notACapture(let magic) = error.reason {
                let none = "not a pcap or pcapng file"
                guard let format = OtherFormat(magic: magic) else {
                    return none
                        + ", nor one compressed with gzip or zstd; "
                        + "if tshark can read the file, convert it with `editcap -F pcap in out.pcap`"
                }
                return none + " but \(format.name); \(format.command)"
            }
            return error.description
        }
    }
}
