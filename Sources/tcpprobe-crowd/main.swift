import Glibc
import ProbeBase
import ProbeCrowd
import ProbeOrigin
import ProbeSystem
import ProbeTransport

// `tcpprobe-crowd` is a worker of a crowd. `tcpprobe run` starts the worker and sends it commands on stdin.
//
// The worker is a separate program because its histogram library requires Foundation, which `tcpprobe run` would
// otherwise have to load.
private func fail(_ text: String) -> Never {
    WorkerOutput.write(.object([("error", .string(text))]))
    exit(1)
}

signal(SIGPIPE, SIG_IGN)
switch ProgramArguments.words.dropFirst().first {
case nil: break
case "--version"?: print(ProductOrigin.line(program: "tcpprobe-crowd", version: ProductVersion.text))
default:
    print(
        """
        usage: tcpprobe-crowd

        Runs members of a scenario's crowd. `tcpprobe run` starts it automatically, and sends it commands on stdin.
        """)
}
if ProgramArguments.words.count > 1 { exit(0) }

private var input = WorkerInput()
private var order: JSONValue?
while order == nil, !input.hasEnded {
    input.read()
    order = input.next()
}
guard let text = order else { exit(0) }
guard let crowdOrder = CrowdOrder(json: text) else { fail("the first line is not a valid order") }
do throws(WorkerProblem) {
    var worker = try CrowdWorker(crowdOrder)
    try worker.run(input)
} catch {
    fail(error.text)
}
