import Glibc
import Synchronization

/// Writes text to a descriptor, whole, whatever the kernel takes at a time.
final class Console: Sendable {
    static let standardOutput = Console(descriptor: 1)
    static let standardError = Console(descriptor: 2)

    private let descriptor: Int32
    /// The errno of the first write that failed; later ones are not tried.
    private let broken = Mutex<Int32?>(nil)

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Why output was lost (a full disk, say); nil while it was not. A reader that went away is no failure.
    var failure: Int32? { broken.withLock { $0 == EPIPE ? nil : $0 } }

    /// Whoever read it has gone.
    var isReaderGone: Bool { broken.withLock { $0 == EPIPE } }

    /// Columns of the terminal; nil for what is none.
    var width: Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    func write(_ text: String) {
        write(Array(text.utf8))
    }

    func write(_ bytes: [UInt8]) {
        broken.withLock { broken in
            if broken != nil { return }
            bytes.withUnsafeBytes { bytes in
                var offset = 0
                while offset < bytes.count {
                    let count = Glibc.write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                    if count > 0 {
                        offset += count
                    } else if errno == EAGAIN {
                        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        poll(&poller, 1, 1000)
                    } else if errno != EINTR {
                        broken = errno
                        return
                    }
                }
            }
        }
    }

    /// Columns for a live line; nil where none is wanted.
    var progressWidth: Int? {
        guard isatty(descriptor) == 1, getenv("TERM").map({ String(cString: $0) }) != "dumb" else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Colour only on a terminal that has it and was not told otherwise (no-color.org).
    var usesColor: Bool {
        guard isatty(descriptor) == 1 else { return false }
        if let set = getenv("NO_COLOR"), set.pointee != 0 { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
