/// Tracks how much of an incomplete TLS record has been received, using the lengths in the record headers (RFC 8446,
/// section 5.1). OpenSSL does not report how many bytes of an incomplete record it holds.
struct TLSRecordBoundary {
    private var header: [UInt8] = []
    /// The number of content bytes of the current record that have not been received yet.
    private var left = 0
    private var taken = 0

    /// The number of received bytes of an incomplete record, including its header.
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
