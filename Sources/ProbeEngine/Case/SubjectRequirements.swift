import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeTransport

/// The requirements that a case places on its subject.
struct SubjectRequirements {
    let scenario: Scenario
    let scan: CapabilityScan
    /// The subject's name.
    let name: String

    /// Checks the header's requirements.
    ///
    /// - Throws: the finding about the first requirement that the subject doesn't meet.
    func checkHeader(_ driver: any SubjectDriver) throws(Finding) {
        for requirement in scenario.requirements {
            guard case .subject(let capability) = requirement.kind else { continue }
            if !driver.capabilities.contains(capability) {
                throw Finding(.unsupported, at: requirement.span, missing(capability))
            }
        }
    }

    /// Checks the capabilities that the steps require.
    ///
    /// - Throws: the finding about the first required capability that the subject lacks.
    func checkSteps(_ driver: any SubjectDriver) throws(Finding) {
        for (capability, span) in scan.needed where !driver.capabilities.contains(capability) {
            throw Finding(.unsupported, at: span, missing(capability))
        }
        if let framings = driver.framings,
            // The `websocket` framing is a separate capability, which was checked above.
            let (missing, span) = scan.framings.first(where: { $0.0 != .websocket && !framings.offers($0.0) })
        {
            throw Finding(
                .unsupported, at: span,
                "\(name) does not support framing \(missing.rawValue); it supports \(framings.words.joined(separator: " "))"
            )
        }
        if let span = scan.firstMeasure, driver.processes == nil { throw Self.unmeasurable(name, at: span) }
        if let span = scan.unreportable(by: driver.capabilities) {
            throw Finding(
                .unsupported, at: span, "\(name) reads only on request, but no step of this case requests a read")
        }
        if let span = scan.undetectable(by: driver.capabilities) {
            throw Finding(
                .unsupported, at: span,
                "\(name) detects the end of a connection only by reading, but this case requests no read when it "
                    + "expects the end")
        }
    }

    /// Returns the finding for a subject whose resource usage can't be measured.
    static func unmeasurable(_ name: String, at span: SourceSpan?) -> Finding {
        Finding(
            .unsupported, at: span,
            "\(name) does not run in its own process, so its resource usage can't be separated from the harness's",
            hints: ["use an adapter, whose resource usage can be measured"])
    }

    private func missing(_ capability: TransportCapability) -> String {
        switch capability {
        case .watches: "\(name) detects the end of a connection only by reading"
        case .frames: "\(name) does not support frames: its adapter appends terminators and lengths"
        default: "\(name) does not support \(capability.rawValue)"
        }
    }
}
