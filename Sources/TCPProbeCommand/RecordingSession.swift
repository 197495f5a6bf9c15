import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeExplore
import ProbeNetwork
import ProbeSystem

/// A proxy that records what passes, until so many connections have ended.
final class RecordingSession {
    private let proxy: ConnectionProxy
    private let reactor: Reactor
    private let count: Int
    private var recordings: [Recording] = []

    /// One connection.
    private final class Recording {
        var conversation = RecordedConversation()
        var isOver = false
    }

    var address: SocketAddress { proxy.address }

    /// Of the first connections, in the order in which they came.
    var conversations: [RecordedConversation] {
        let heard = recordings.map(\.conversation).filter { !$0.isEmpty }
        return heard.isEmpty ? recordings.map(\.conversation) : heard
    }

    init(_ place: SocketAddress, to target: SocketAddress, count: Int) throws {
        self.count = count
        do throws(SystemError) {
            reactor = try Reactor()
            proxy = try ConnectionProxy(
                Listener(address: place, backlog: 128, options: []), reactor: reactor, watches: false, forgets: true
            ) { () throws(SystemError) in target }
        } catch {
            throw Failure.machine(
                "can't listen on \(place): \(error.reason)"
                    + (error.code == EADDRINUSE
                        ? "\n  hint: another program has the port; port 0 takes a free one" : ""))
        }
        proxy.onConnection = { [unowned self] in record($0) }
        proxy.onFailure = { Console.standardError.write("error: a connection was not taken: \($0.reason)\n") }
        Console.standardError.write("listening on \(address), forwarding to \(target); Ctrl-C ends it\n")
    }

    private func record(_ connection: ProxiedConnection) {
        // Others go through, and are not recorded.
        guard recordings.count < count else { return }
        let recording = Recording()
        recordings.append(recording)
        let start = MonotonicTime.now
        connection.onBytes = { side, bytes, time in
            recording.conversation.add(.bytes(Array(bytes)), from: .init(side), at: time - start)
        }
        connection.onEnd = { side, end, time in
            recording.conversation.add(end == .reset ? .reset : .fin, from: .init(side), at: time - start)
        }
        connection.onChange = { [unowned self, weak connection] in
            guard connection?.isOver ?? true, !recording.isOver else { return }
            recording.isOver = true
            if let failure = connection?.failure {
                Console.standardError.write("error: the server could not be reached: \(failure.reason)\n")
            }
            if recordings.count == count, recordings.allSatisfy(\.isOver) { reactor.stop() }
        }
    }

    /// - Returns: the signal that ended it; 0 where the connections have ended.
    func run() throws -> Int32 {
        let interrupts = probe_interrupt_descriptor()
        var signal: Int32 = 0
        do throws(SystemError) {
            try reactor.register(interrupts, for: .read) { [reactor] _ in
                signal = probe_next_signal(interrupts)
                if signal > 0 { reactor.stop() }
            }
        } catch {
            throw Failure.machine("signals can't be waited for: \(error.reason)")
        }
        reactor.run()
        proxy.end()
        return signal
    }
}

extension RecordedConversation.Side {
    fileprivate init(_ side: ProxiedConnection.Side) { self = side == .client ? .client : .server }
}
