import Glibc
import Testing

@testable import ProbeSystem

/// Tests the files of Unix sockets.
final class SocketFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func path(_ name: String) -> String { "\(scratch.path)/\(name)" }

    private func listener(_ name: String) throws -> Listener {
        let address = try #require(SocketAddress(unixPath: path(name)))
        return try Listener(address: address, backlog: 1, options: [])
    }

    private func exists(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(name), &status) == 0
    }

    @Test func spellingsOfAPathAreEqual() throws {
        mkdir(path("folder"), 0o700)
        symlink("folder", path("link"))
        symlink("folder/a", path("alias"))
        let file = SocketFile(path("folder/a"))
        for spelling in ["folder//a", "./folder/a", "folder/../folder/a", "link/a"] {
            #expect(SocketFile(path(spelling)) == file, "\(spelling)")
        }
        for other in ["folder/b", "a", "link/b", "none/a"] { #expect(SocketFile(path(other)) != file, "\(other)") }
        #expect(SocketFile(path("none/a")) == SocketFile(path("none/a")))
        // Once the socket exists, a link to it identifies the same socket.
        let listener = try listener("folder/a")
        #expect(SocketFile(path("alias")) == file)
        withExtendedLifetime(listener) {}
    }

    @Test func onlyAbandonedSocketsAreRemoved() throws {
        var listener: Listener? = try listener("a")
        try SocketFile.removeAbandoned(path("a"))
        #expect(exists("a"))
        withExtendedLifetime(listener) {}
        listener = nil
        try SocketFile.removeAbandoned(path("a"))
        #expect(!exists("a"))
        mkdir(path("folder"), 0o700)
        close(open(path("file"), O_CREAT | O_WRONLY, 0o600))
        mkfifo(path("pipe"), 0o600)
        symlink("nowhere", path("link"))
        for name in ["folder", "file", "pipe", "link"] {
            try SocketFile.removeAbandoned(path(name))
            SocketFile.release(path(name))
            #expect(exists(name), "\(name)")
        }
        try SocketFile.removeAbandoned(path("missing"))
    }

    /// A socket of another process that has replaced this process's socket is not removed.
    @Test func ownSocketIsIdentifiedByItsInode() throws {
        let first = try listener("a")
        SocketFile.bound(path("a"))
        unlink(path("a"))
        let second = try listener("a")
        SocketFile.release(path("a"))
        #expect(exists("a"))
        SocketFile.bound(path("a"))
        SocketFile.release(path("a"))
        #expect(!exists("a"))
        withExtendedLifetime((first, second)) {}
    }

    @Test func fileIsReservedOnce() throws {
        let file = SocketFile(path("a"))
        var reservation: SocketFile.Reservation?
        guard case .reserved(let first) = try file.reserve() else {
            Issue.record("a free file can't be reserved")
            return
        }
        reservation = first
        guard case .held(byProcess: getpid()) = try SocketFile(path("./a")).reserve() else {
            Issue.record("a reserved file is reserved again, or its holder is not named")
            return
        }
        guard case .reserved = try SocketFile(path("b")).reserve() else {
            Issue.record("another file in the folder can't be reserved")
            return
        }
        withExtendedLifetime(reservation) {}
    }
}
