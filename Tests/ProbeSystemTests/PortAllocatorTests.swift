import Glibc
import ProbeSystem
import Testing

struct PortAllocatorTests {
    /// Two simultaneous runs use different blocks of ports, whatever their seeds.
    @Test func blocksAreNotShared() {
        let first = allocator("two")
        let second = allocator("two")
        #expect(!first.range.overlaps(second.range), "\(first.range) and \(second.range)")
        #expect(first.range.contains(first.candidate()))
        #expect(second.range.contains(second.candidate()))
    }

    /// The test runs in a separate process, because a program that another test starts has a copy of the descriptor
    /// that reserves the block until the program calls `exec`.
    @Test func blockIsReleased() async {
        await #expect(processExitsWith: .success) {
            let blocks = (0..<200).map { _ in PortAllocatorTests().allocator("back").range }
            #expect(Set(blocks).count == 1)
        }
    }

    /// If there are more runs than blocks, runs share blocks, and a port that is in use is skipped.
    @Test func blocksAreSharedOnceExhausted() throws {
        let all = (0..<64).map { _ in allocator("all") }
        #expect(Set(all.map(\.range)).count > 1)
        #expect(Set(all.map(\.range)).count < all.count)
        let last = try #require(all.last)
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        #expect(last.range.contains(try last.freePort(address: address)))
    }

    private func allocator(_ test: String) -> PortAllocator {
        PortAllocator(seed: 4711, realm: "tcpprobe-test-\(getpid())-\(test)")
    }
}
