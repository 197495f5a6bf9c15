import ProbeBase
import ProbeProxy
import ProbeScenario

/// Checks whether a proxy step has taken effect on a connection. This type has no side effects.
struct ProxyCondition {
    /// The action of the step, with its values computed.
    enum Action {
        case forward(ForwardStyle<Resolved>, count: Int?, ConversationSide)
        case hold(ConversationSide)
        case release([ConversationSide])
        case discard(ConversationSide)
        case replace(ConversationSide)
        /// The step inserts bytes or ends the connection, so it can take effect only once.
        case acts(ConversationSide)
    }

    let action: Action
    /// The number by which the proxied connection identifies the step.
    let number: Int
    /// The step as written in the script.
    let text: String
    /// The actor's name.
    let name: String

    /// Returns the message to report if the step has had no effect; `nil` if it has taken effect on one of the
    /// connections.
    func shortfall(of connections: [ProxiedConnection]) -> Condition.Shortfall? {
        let effects = connections.map { connection in
            sides.reduce(into: ForwardEffect()) { sum, side in
                sum = connection.effect(of: number, to: side).joined(with: sum)
            }
        }
        return shortfall(effects)
    }

    /// Returns the message to report if the step has had no effect; `nil` if it has taken effect on one of the
    /// connections.
    ///
    /// - Parameter effects: the step's effect on each connection that it applies to.
    func shortfall(_ effects: [ForwardEffect]) -> Condition.Shortfall? {
        let reasons = effects.map(reason)
        if reasons.contains(nil) { return nil }
        let first = reasons.first ?? "no connection passed through \(name)"
        return .never(
            text, first ?? "",
            hints: ["add `if needed` to the end of the step if the step may have no effect"])
    }

    private var sides: [ConversationSide] {
        switch action {
        case .forward(_, _, let side), .hold(let side), .discard(let side), .replace(let side), .acts(let side): [side]
        case .release(let sides): sides
        }
    }

    /// Returns why the step has not taken effect on one connection; `nil` if it has.
    private func reason(_ effect: ForwardEffect) -> String? {
        let to = "to its \(sides.count == 1 ? sides[0].word : "client or its server")"
        switch action {
        case .forward(let style, let count?, _):
            if effect.hasKept { return style.shortfalls(effect, to).first }
            let passed = "\(name) forwarded \(ByteText.count(effect.passed, "byte")) \(to)"
            return effect.passed < count ? passed : "\(passed), and no further data arrived that could be held"
        case .forward(let style, nil, _): return style.shortfalls(effect, to).first
        case .hold: return effect.hasKept ? nil : "\(name) had no data to forward \(to), so nothing was held"
        case .release: return effect.hasActed ? nil : "\(name) held no data that it could forward \(to)"
        case .discard:
            return effect.dropped > 0
                ? nil
                : "\(name) had no data to forward \(to), so nothing was discarded"
        case .replace: return effect.replaced > 0 ? nil : "the bytes were not found in the data forwarded \(to)"
        case .acts: return effect.hasActed ? nil : "\(name)'s connection \(to) had already ended"
        }
    }
}
