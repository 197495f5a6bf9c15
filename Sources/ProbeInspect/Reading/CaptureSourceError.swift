/// The reason why a capture file could not be read.
package enum CaptureSourceError: Error, Sendable, Hashable {
    case notFound
    case isFolder
    case notPermitted
    /// The system reported an error with the given message.
    case system(String)
    /// The compressed data is damaged at the given offset in the file. The data before the offset was read.
    case damaged(format: String, offset: UInt64, reason: String)
    /// The file ends in the middle of the compressed data.
    case endsInside(format: String, offset: UInt64)

    /// Whether no part of the file can be read.
    package var isInvalidUsage: Bool {
        switch self {
        case .notFound, .isFolder, .notPermitted, .system: true
        case .damaged, .endsInside: false
        }
    }
}

extension CaptureSourceError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound: "no such file"
        case .isFolder: "is a folder; specify the capture files in it"
        case .notPermitted: "permission denied"
        case .system(let words): "cannot be read: \(words)"
        case .damaged(let format, let offset, let reason):
            "at byte \(offset): the \(format) data is damaged: \(reason)"
        case .endsInside(let format, let offset): "at byte \(offset): the file ends inside the \(format) data"
        }
    }
}
