import Dispatch
import Glibc
import ProbeSystem
import Synchronization

/// The adapter's side of the adapter protocol. It serves transports of this process to a harness over stdin and stdout.
package final class AdapterServer: Sendable {
    private let input: Int32
    private let output: Int32
    /// A lock that is held while a line is written. The value is `false` once the harness has closed its end of the
    /// pipe.
    private let canWrite = Mutex(true)

    /// Creates a server on two descriptors.
    ///
    /// - Parameters:
    ///   - input: the descriptor from which the harness's ops are read; reads block.
    ///   - output: the descriptor to which answers and events are written.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Serves until the input ends.
    ///
    /// - Returns: `nil` if the input has ended; otherwise a one-line description of the error.
    package func serve(_ factory: any TransportFactory, version: String) -> String? {
        say(
            .hello(
                AdapterHello(
                    name: factory.name, version: version, capabilities: factory.offers, framings: factory.framings)))
        let subject = InProcessSubject(factory: factory) { [self] report in
            switch report.event {
            case .accepted(let connection): say(.accept(connection: connection, listener: report.connection))
            case .output: break
            case .broken(let failure):
                logFailure(failure)
                guard let fault = failure.machine else { break }
                let event = SubjectReport.Event.stopped(.other, detail: failure.details.first)
                say(.withMachineError(.event(connection: report.connection, event), fault.rawValue))
            default: say(.event(connection: report.connection, report.event))
            }
        }
        defer { subject.close(isReusable: false, late: nil) }
        var lines = LineBuffer(limit: 16 << 20)
        var chunk = [UInt8](repeating: 0, count: 65536)
        var problem: String?
        while problem == nil {
            let count = read(input, &chunk, chunk.count)
            if count == 0 {
                finish(subject)
                return nil
            }
            if count < 0 {
                if errno == EINTR { continue }
                return String(cString: strerror(errno))
            }
            do throws(LineBuffer.TooLong) {
                try lines.append(chunk[..<count]) { line in
                    problem = take(line, subject)
                    return problem == nil
                }
            } catch {
                problem = "a line of more than 16 MiB"
            }
        }
        return problem
    }

    /// Waits until all ops that arrived before the end of the input have been answered, but not longer than a second,
    /// because an op may hang.
    private func finish(_ subject: InProcessSubject) {
        let answered = DispatchSemaphore(value: 0)
        subject.afterOthers { answered.signal() }
        _ = answered.wait(timeout: .now() + .seconds(1))
    }

    private func take(_ line: [UInt8], _ subject: InProcessSubject) -> String? {
        let request: AdapterRequest
        do throws(AdapterRequestError) {
            request = try AdapterRequest(line: line.span)
        } catch {
            guard let id = error.id else { return error.text }
            subject.afterOthers { [self] in say(.done(id: id, error: error.text, port: nil)) }
            return nil
        }
        subject.perform(request.operation, on: request.connection) { [self] reply in
            switch reply {
            case .done(let port): say(.done(id: request.id, error: nil, port: port))
            case .refused(let code): say(.done(id: request.id, error: code, port: nil))
            case .broken(let failure):
                let message = AdapterMessage.done(id: request.id, error: failure.summary, port: nil)
                say(failure.machine.map { .withMachineError(message, $0.rawValue) } ?? message)
            }
        }
        return nil
    }

    /// Writes a failure to stderr, whose contents the harness shows.
    private func logFailure(_ failure: SubjectFailure) {
        let line = Array("\(failure.line)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes a message. While the harness does not read, the call blocks, which delays the transport's later reports.
    private func say(_ message: AdapterMessage) {
        let line = message.encoded()
        canWrite.withLock { canWrite in
            var written = 0
            while canWrite && written < line.count {
                let count = line[written...].withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
                if count >= 0 {
                    written += count
                } else if errno != EINTR {
                    canWrite = false
                }
            }
        }
    }
}
