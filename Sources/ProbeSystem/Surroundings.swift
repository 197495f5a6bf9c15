package import ProbeBase
import CShims
import Glibc
import Synchronization

/// Machine errors, which are caused by the machine rather than by the program under test: a resource is exhausted,
/// forbidden or disabled. A case with such an error ends in `error`.
package enum Surroundings {
    /// A resource of the whole process was exhausted.
    package struct Shortage: Sendable {
        package var error: SystemError
        package var time: MonotonicTime
    }

    private static let lastShortage = Mutex<Shortage?>(nil)

    /// Records that the process has exhausted a resource, because the code that received the error may not report it.
    package static func note(_ call: String, _ code: Int32) {
        guard [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) else { return }
        let shortage = Shortage(error: SystemError(call, uncounted: code), time: .now)
        lastShortage.withLock { $0 = shortage }
    }

    /// Returns the error that was recorded, at or after the given time, for an exhausted resource.
    package static func shortage(since time: MonotonicTime) -> Shortage? {
        lastShortage.withLock { $0.flatMap { $0.time >= time ? $0 : nil } }
    }

    /// Returns advice on an errno that is not caused by a peer on loopback; `nil` for any other errno.
    package static func advice(on code: Int32) -> String? {
        switch code {
        case EMFILE: "raise the limit on open files (`ulimit -n`), or reduce `-j`"
        case ENFILE: "raise the system's limit on open files with `sysctl fs.file-max`"
        case ENOMEM, ENOBUFS: "the system is out of memory"
        case EAGAIN: "raise the limit on processes and threads (`ulimit -u`)"
        case ENETDOWN, ENETUNREACH, EHOSTUNREACH: Loopback.advice
        case ECHILD: "start the run again: its guardian process was killed by another process"
        case EADDRNOTAVAIL:
            "check with `ip addr show lo` and `ss -s`: the address does not exist, or all its ports are in use"
        case EPERM: "check the firewall rules and the security policies: one of them forbids the operation"
        default: nil
        }
    }
}

/// Whether the loopback interface is up, and whether it has been up since a given time.
package enum Loopback {
    package static let advice =
        "bring the loopback interface up with `ip link set lo up` (as root), or give the run its own with `--isolate`"

    private struct State {
        /// A socket that receives notifications of interface changes; -1 if none could be opened.
        var changes: Int32?
        var isUp = true
        var wasDownAt: MonotonicTime?
    }

    private static let state = Mutex(State())

    /// Whether the interface is up now; `true` if its state can't be determined.
    package static var isUp: Bool {
        state.withLock { state in
            look(&state)
            return state.isUp
        }
    }

    /// Returns whether the interface was found to be down at or after the given time.
    package static func wasDown(since time: MonotonicTime) -> Bool {
        state.withLock { state in
            look(&state)
            return !state.isUp || state.wasDownAt.map { $0 >= time } ?? false
        }
    }

    private static func look(_ state: inout State) {
        if state.changes == nil {
            // The socket subscribes to changes before the state is read, so that a change after the read is not missed.
            state.changes = probe_watch_links()
            state.isUp = probe_loopback_is_up() != 0
        }
        guard let changes = state.changes, changes >= 0 else { return }
        while true {
            switch probe_next_loopback_change(changes) {
            case 0:
                state.isUp = false
                state.wasDownAt = .now
            case 1: state.isUp = true
            default: return
            }
        }
    }
}
