/// The files of one scenario: what spans point into.
package struct SourceMap: Sendable {
    package private(set) var files: [SourceFile]

    package init(_ files: [SourceFile]) {
        self.files = files
    }
}

/// One file: the path as the user gave it and its bytes.
package struct SourceFile: Sendable {
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}
