import ProbeBase
import Testing

struct FNV1aTests {
    /// Tests the examples in RFC 9923. The hash must not change between versions, because file names, the digests of
    /// plans and the division into shards depend on it.
    @Test(
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func hashesMatchTheRFC(text: String, hash: UInt64) {
        #expect(FNV1a(text).value == hash)
    }
}
