/// Where in a TLS record a direction is, by the lengths in the headers (RFC 8446, 5.1): OpenSSL does not tell what it has of a record that
/// is not whole.
struct TLSRecordBoundary {
    private var header: [UInt8] = []
    /// Of the record's content.
    private var left = 0
    private var taken = 0

    /// Bytes of a record that is not whole.
    var unfinished: Int { header.count + taken }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count {
            if header.count < 5 {
                header.append(bytes[index])
                index += 1
                if header.count == 5 { (left, taken) = (Int(header[3]) << 8 | Int(header[4]), 0) }
            } else {
                let step = min(left, bytes.count - index)
                (left, taken, index) = (left - step, taken + step, index + step)
            }
            if header.count == 5, left == 0 { (header, taken) = ([], 0) }
        }
    }
}
