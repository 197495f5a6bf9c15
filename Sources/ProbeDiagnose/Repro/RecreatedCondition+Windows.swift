import ProbeBase

/// Scenarios for findings about windows and about what limits transfers.
extension RecreatedCondition {
    var window: ReproductionScript? {
        switch id {
        case .closedWindow: closedWindow
        case .windowLimited: windowLimited
        case .smallWindow: smallWindow
        case .sillyWindow: sillyWindow
        case .applicationLimited: applicationLimited
        default: nil
        }
    }

    private var closedWindow: ReproductionScript {
        let (reader, sender) = (place, place.opposite)
        let (own, other) = (ReproductionScript.name(reader), ReproductionScript.name(sender))
        let stall = severity == .problem ? 1500 : severity == .warning ? 700 : 300
        var script = ReproductionScript("the \(reader.word) stops reading for \(stall) ms, and its window closes")
        script.end = sender
        script.options[reader] = "with receive-buffer 16KiB"
        script.options[sender] = "with send-buffer 4KiB"
        script.add("\(own) stop reading")
        script.connect()
        script.add(
            "\(other) start sending \"x\" * 256KiB", "\(other) expect stalled for \(stall)ms", "\(own) resume reading",
            "\(own) expect \"x\" * 256KiB", "\(other) expect sent")
        script.close()
        return script
    }

    private var windowLimited: ReproductionScript {
        let window = count("window", in: 12 << 10...32 << 10)
        var script = ReproductionScript("the receive window of the \(place.word) limits a transfer")
        script.end = place.opposite
        script.options[place] = "with receive-buffer \(window)B"
        script.add("link C <-> S delay 10ms")
        script.connect()
        // With one window per round trip of 20 ms, a serious transfer takes about two seconds.
        script.transfer("\(severity == .note ? window * 30 : window * 110)B", from: place.opposite)
        script.close()
        return script
    }

    private var smallWindow: ReproductionScript {
        var script = ReproductionScript(
            "the receive window of the \(place.word) is very small"
                + (severity == .note ? "" : ", which limits a transfer"))
        script.end = place.opposite
        script.options[place] = "with receive-buffer 2500B"
        if severity == .note {
            script.connect()
            script.exchange()
        } else {
            script.add("link C <-> S delay 10ms")
            script.connect()
            script.transfer("200kB", from: place.opposite)
        }
        script.close()
        return script
    }

    private var sillyWindow: ReproductionScript {
        var script = ReproductionScript("the window of the \(place.word) has room for 300 bytes at a time")
        script.end = place.opposite
        script.add("link C -> S strip wscale")
        script.addFault(from: place, "window 300")
        script.connect()
        script.deliver("\"x\" * 6000", from: place.opposite, "in pieces of 300B every 50ms")
        script.close()
        return script
    }

    private var applicationLimited: ReproductionScript {
        var script = ReproductionScript("the \(place.word) has data to send only from time to time")
        script.end = place
        script.connect()
        script.deliver("\"x\" * 40000", from: place, "in pieces of 1000B every 20ms")
        script.close()
        return script
    }
}
