import ProbeBase
import Testing

struct SHA256Tests {
    /// Tests the examples in FIPS 180-4.
    @Test func digestsMatchTheStandard() {
        func text(_ message: String) -> String {
            SHA256.digest(Array(message.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(text("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            text(String(repeating: "a", count: 1000))
                == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
    }
}
