import CShims
import Glibc

/// Runs a reactor on a thread of its own.
package enum ReactorThread {
    /// - Returns: a reactor that runs until it is stopped; nil when the system gives no descriptors or thread for it.
    package static func start() -> Reactor? {
        let reactor: Reactor
        do { reactor = try Reactor() } catch { return nil }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(reactor)
        let code = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                let reactor = Unmanaged<Reactor>.fromOpaque(pointer).takeRetainedValue()
                probe_name_thread("reactor")
                reactor.run()
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            return nil
        }
        pthread_detach(thread)
        return reactor
    }
}
