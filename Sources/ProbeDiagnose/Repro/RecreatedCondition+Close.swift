import ProbeBase

/// Scenarios for findings about how a connection ended.
extension RecreatedCondition {
    var close: ReproductionScript? {
        switch id {
        case .resetByClient, .resetByServer: reset
        case .injectedReset: injectedReset
        case .dataLostAtClose: dataLostAtClose
        case .halfClosed: halfClosed
        default: nil
        }
    }

    private var reset: ReproductionScript {
        let side: ConversationSide = id == .resetByClient ? .client : .server
        let peer = side.opposite
        let (own, other) = (ReproductionScript.name(side), ReproductionScript.name(peer))
        if severity != .note, text("reason") == "data-after-close" {
            var script = ReproductionScript("the \(peer.word) sends data after the \(side.word) has closed")
            script.connect()
            script.exchange()
            script.add("\(own) close", "\(other) expect eof", "\(other) send line \"too late\"")
            script.wait(50)
            return script
        }
        var script = ReproductionScript(
            severity == .problem
                ? "the \(side.word) resets the connection while data is on its way"
                : severity == .note
                    ? "the \(side.word) resets the connection after the \(peer.word) has closed"
                    : "the \(side.word) resets the connection")
        script.connect()
        script.exchange()
        switch severity {
        case .problem: script.add("link C -> S drop data 1", "C send line \"lost\"")
        case .warning: break
        case .note: script.add("\(other) half-close", "\(own) expect eof")
        }
        script.add("\(own) reset", "\(other) expect reset")
        return script
    }

    private var injectedReset: ReproductionScript {
        var script = ReproductionScript("a device on the path resets the connection, using the server's address")
        script.connect()
        script.exchange()
        script.exchange()
        script.add("link S -> C reset", "C expect reset", "S send line \"more\"", "S expect reset")
        return script
    }

    /// With a long round trip, the capture shows for a second that nothing is acknowledged before a timeout does. The
    /// end of another connection shows that the capture went on.
    private var dataLostAtClose: ReproductionScript {
        let (sender, receiver) = (place.opposite, place)
        let (own, other) = (ReproductionScript.name(sender), ReproductionScript.name(receiver))
        var script = ReproductionScript("the last data of the \(sender.word) is lost after it has closed")
        script.end = sender
        script.furtherClients = ["D"]
        script.add("link C <-> S delay 175ms")
        script.connect()
        script.exchange()
        script.add("D connect", "S accept as E")
        script.addFault(from: sender, "drop data all")
        script.addFault(from: sender, "drop fin all")
        script.add("\(own) send \"x\" * \(count("bytes", in: 1...1000))", "\(own) half-close")
        script.wait(1100)
        let (late, last) = receiver == .client ? ("D", "E") : ("E", "D")
        script.add("\(late) close", "\(last) expect eof", "\(other) vanish silently")
        return script
    }

    private var halfClosed: ReproductionScript {
        let (open, closed) = (place, place.opposite)
        let (own, other) = (ReproductionScript.name(open), ReproductionScript.name(closed))
        var script = ReproductionScript("the \(closed.word) closes its side, and the \(open.word) does not")
        script.end = .client
        script.connect()
        script.exchange()
        script.add("\(other) half-close", "\(own) expect eof")
        script.wait(severity == .problem ? 60500 : 2200)
        script.add("\(own) close", "\(other) expect eof", "\(other) close")
        return script
    }
}
