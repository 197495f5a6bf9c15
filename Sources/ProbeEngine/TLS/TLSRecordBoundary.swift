/// Tracks the position of one direction within a TLS record, by the lengths in the headers (RFC 8446, 5.1). OpenSSL
/// does not report how much it holds of an incomplete record.
struct TLSRecordBoundary {
    private var header: [UInt8] = []
    /// The number of bytes left of the record's content.
    private var left = 0
    private var taken = 0

    /// The number of bytes of an incomplete record.
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
