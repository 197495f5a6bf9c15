import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// `vanish`: the end that the peer is not told of.
extension ConnectionExecutor {
    /// - Parameter silently: nothing answers what the peer sends later. What it has not acknowledged yet would be sent again, so that is
    ///   waited for.
    func vanish(
        _ actor: ConnectionActor, _ connection: Connection, silently: Bool, _ step: Step, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) async throws(Finding) {
        let vanishing = Vanishing(of: connection)
        if vanishing.hasEnded {
            let text = context.text(of: step.span)
            context.conditions.add(at: step.span, isOptional: step.isOptional) {
                .never(text, "\(actor.name)'s connection had ended", hints: ["write the step before the end"])
            }
        }
        if silently {
            let step = Duration.milliseconds(1)
            while vanishing.unacknowledged > 0 {
                guard MonotonicTime.now < context.reactor.extended(deadline, from: time) else {
                    throw Finding(
                        .error,
                        "\(actor.name) can't vanish silently: its peer has not acknowledged \(vanishing.unacknowledged) bytes that \(actor.name) sent, and the kernel would go on sending them",
                        hints: [
                            "`\(actor.name) vanish` drops them: what the peer sends later is answered by an RST then"
                        ])
                }
                try await context.wait(until: .now + step)
            }
        }
        do throws(SystemError) {
            if silently { try vanishing.endSilently() } else { try vanishing.end() }
        } catch {
            throw Finding(.error, "\(actor.name)'s connection can't vanish: \(error.reason)")
        }
    }
}
