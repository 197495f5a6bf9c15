import ProbeBase

/// Scenarios for findings about how a connection was set up.
extension RecreatedCondition {
    var setUp: ReproductionScript? {
        switch id {
        case .refused: refused
        case .noAnswer: noAnswer
        case .synLost: synLost
        case .acceptQueueFull: acceptQueueFull
        case .icmpUnreachable: icmpUnreachable
        case .slowHandshake: slowHandshake
        case .noWindowScaling: noWindowScaling
        case .noSACK: noSACK
        case .smallMSS: smallMSS
        default: nil
        }
    }

    private var refused: ReproductionScript {
        var script = ReproductionScript("the server refuses the connection")
        script.add("S stop listening", "C connect refused")
        return script
    }

    private var noAnswer: ReproductionScript {
        var script = ReproductionScript("the server never answers")
        script.add("link C -> S drop syn all", "C connect timeout within 1500ms")
        return script
    }

    private var synLost: ReproductionScript {
        let isAnswer = place == .client
        var script = ReproductionScript(
            isAnswer ? "the first SYN-ACK is lost" : "the first SYN is lost, and the client repeats it")
        script.end = place.opposite
        script.addFault(from: place.opposite, isAnswer ? "drop synack 1" : "drop syn 1")
        script.connect()
        script.exchange()
        script.close()
        return script
    }

    /// Two connections wait in a queue of three, and another one takes the last place before the ACK of C arrives.
    private var acceptQueueFull: ReproductionScript {
        let isAccepted = severity != .problem
        var script = ReproductionScript(
            isAccepted
                ? "the queue of the server is full when the connection is completed, and has room later"
                : "the queue of the server is full, and the connection is never accepted")
        script.options[.server] = "backlog 2"
        script.furtherClients = ["D", "E", "F"]
        script.end = .server
        script.add("D connect", "E connect", "link C -> S delay ack 1 by 100ms", "C connect", "F connect")
        let others = ["S accept as X", "S accept as Y", "S accept as Z"]
        if isAccepted {
            script.wait(200)
            script.add(others + ["S accept as A"])
            script.add("C send line \"request\"", "A expect line \"request\"", "C close", "A expect eof")
        } else {
            script.add("C send line \"request\"", "C expect nothing for 1500ms", "C reset")
            script.add(others + ["X ignore rest", "Y ignore rest", "Z ignore rest"])
        }
        return script
    }

    private var icmpUnreachable: ReproductionScript {
        let hasRecovered = severity != .problem
        var script = ReproductionScript(
            hasRecovered
                ? "a router reports that a packet could not be delivered, and the next one arrives"
                : "a router reports that the server can't be reached")
        script.connect()
        if hasRecovered {
            script.add("link C -> S unreachable data 1")
            script.exchange()
            script.close()
        } else {
            script.exchange()
            script.add("link C -> S unreachable", "C send line \"request\"")
            script.wait(100)
            script.add("C reset")
        }
        return script
    }

    private var slowHandshake: ReproductionScript {
        var script = ReproductionScript("the handshake is slow, and later answers are not")
        script.add("link S -> C delay synack 1 by \(milliseconds("handshake", in: 300...800))ms")
        script.connect()
        script.exchange()
        script.exchange()
        script.close()
        return script
    }

    /// The option is removed from the SYN, so that neither side uses it. At the end of the side that sent the SYN, the
    /// other side seems to lack the option.
    private var noWindowScaling: ReproductionScript {
        var script = ReproductionScript("the \(place.word) does not support window scaling")
        script.end = place.opposite
        script.add("link C -> S strip wscale")
        if severity == .note {
            script.connect()
            script.exchange()
        } else {
            script.add("link C <-> S delay 40ms")
            script.connect()
            script.transfer("2500kB", from: script.end)
        }
        script.close()
        return script
    }

    private var noSACK: ReproductionScript {
        var script = ReproductionScript("the \(place.word) does not support selective acknowledgments")
        script.end = place.opposite
        script.add("link C -> S strip sack")
        script.connect()
        script.exchange()
        script.close()
        return script
    }

    private var smallMSS: ReproductionScript {
        let size = count("mss", in: severity == .note ? 536...1199 : 100...535)
        var script = ReproductionScript("the \(place.word) announces a maximum segment size of \(size) bytes")
        script.end = place.opposite
        script.addFault(from: place, "clamp mss \(size)")
        script.connect()
        script.exchange()
        script.close()
        return script
    }
}
