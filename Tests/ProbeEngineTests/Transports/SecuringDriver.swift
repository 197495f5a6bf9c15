import Dispatch
import ProbeBase
import ProbeSystem
import ProbeTransport
import Synchronization

/// A subject that has no connection, but sends the reports that a test specifies after `connect` and after `start-tls`.
final class SecuringDriver: SubjectDriver {
    struct Script: Sendable {
        var afterConnect: [SubjectReport.Event] = [.started]
        /// The reports that are made ``delay`` milliseconds after ``afterConnect``.
        var longAfterConnect: [SubjectReport.Event] = []
        var afterStartTLS: [SubjectReport.Event] = []
        /// The delay between an operation and its reports, in milliseconds.
        var delay: Int?
        /// The error with which the subject answers `start-tls`; `nil` if the subject accepts the operation.
        var refusal: String?
        /// The reports that precede the answer to `start-tls`.
        var beforeAnswer: [SubjectReport.Event] = []
    }

    private let script: Script
    private let operations: OperationLog
    private let handler: @Sendable (SubjectReport) -> Void

    /// A log of the operations that were passed to the subject.
    final class OperationLog: Sendable {
        private let operations = Mutex<[SubjectOperation]>([])

        func add(_ operation: SubjectOperation) { operations.withLock { $0.append(operation) } }

        /// The WebSocket operations that were passed to the subject, each as a line of text.
        var webSocket: [String] {
            operations.withLock { operations in
                operations.compactMap { operation in
                    switch operation {
                    case .connect(let configuration): "connect \(configuration.requestPath)"
                    case .send(let message, let kind):
                        "send \(kind?.rawValue ?? "nothing") \(String(decoding: message, as: UTF8.self))"
                    case .ping(let payload): "ping \(String(decoding: payload, as: UTF8.self))"
                    case .close(let code, let reason):
                        "close \(code.map { "\($0)" } ?? "nothing") \(String(decoding: reason, as: UTF8.self))"
                    default: nil
                    }
                }
            }
        }

        /// The TLS options that were passed to the subject.
        var tls: [TransportTLS] {
            operations.withLock { operations in
                operations.compactMap { operation in
                    switch operation {
                    case .connect(let configuration): configuration.tls
                    case .startTLS(let tls): tls
                    default: nil
                    }
                }
            }
        }
    }

    init(_ script: Script, _ operations: OperationLog, handler: @escaping @Sendable (SubjectReport) -> Void) {
        self.script = script
        self.operations = operations
        self.handler = handler
    }

    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        func report(_ events: [SubjectReport.Event]) {
            for event in events { handler(SubjectReport(connection: connection, event: event, time: .now)) }
        }
        func reportLater(_ events: [SubjectReport.Event]) {
            guard let delay = script.delay else { return report(events) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { [handler] in
                for event in events { handler(SubjectReport(connection: connection, event: event, time: .now)) }
            }
        }
        operations.add(operation)
        switch operation {
        case .connect:
            reply(.done(port: nil))
            report(script.afterConnect)
            reportLater(script.longAfterConnect)
        case .startTLS:
            report(script.beforeAnswer)
            reply(script.refusal.map { .refused(code: $0) } ?? .done(port: nil))
            reportLater(script.afterStartTLS)
        case .stop:
            reply(.done(port: nil))
            report([.stopped(.stopped, detail: nil)])
        default: reply(.done(port: nil))
        }
    }

    var capabilities: Set<TransportCapability> { Set(TransportCapability.allCases) }
    var framings: Set<TransportFraming>? { nil }
    func silence() -> SubjectFailure? { nil }
    var drainInterval: Duration { .zero }
    var reportsAreExact: Bool { true }
    func close(isReusable: Bool, late: (any LateReportHandler)?) {}
}

struct SecuringSource: SubjectSource {
    var script = SecuringDriver.Script()
    let operations = SecuringDriver.OperationLog()
    var name: String { "securing" }
    var option: [String] { [] }

    func introduce(_ done: @escaping @Sendable () -> Void) { done() }

    func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void
    ) {
        ready(.success(SecuringDriver(script, operations, handler: handler)))
    }

    func shutDown() async {}
}
