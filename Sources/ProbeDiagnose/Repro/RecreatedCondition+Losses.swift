import ProbeBase

/// Scenarios for findings about lost, late and repeated packets.
extension RecreatedCondition {
    var loss: ReproductionScript? {
        switch id {
        case .timeoutStall: timeoutStall
        case .tailLoss: tailLoss
        case .loss: lossyPath
        case .reordering: reordering
        case .spuriousRetransmission: spuriousRetransmission
        case .mtuBlackHole: mtuBlackHole
        case .vanished: vanished
        case .keepAliveFailed: keepAliveFailed
        case .bufferbloat: bufferbloat
        default: nil
        }
    }

    private var timeoutStall: ReproductionScript {
        let sender = place.opposite
        let outage = severity == .problem ? 1200 : 300
        var script = ReproductionScript("the path to the \(place.word) fails for \(outage) ms")
        script.end = sender
        script.connect()
        script.exchange()
        script.addFault(from: sender, "down")
        script.add("\(ReproductionScript.name(sender)) send line \"late\"")
        script.wait(outage)
        script.addFault(from: sender, "up")
        script.add("\(ReproductionScript.name(place)) expect line \"late\"")
        // The outage is a small part of a connection that lives longer.
        if severity == .note { script.deliver("\"x\" * 200", from: sender, "in pieces of 1B every 80ms") }
        script.deadline = 30
        script.close()
        return script
    }

    private var tailLoss: ReproductionScript {
        let sender = place.opposite
        var script = ReproductionScript("the last segment before a pause is lost")
        script.end = sender
        if severity != .note { script.add("link C <-> S delay 125ms") }
        script.connect()
        script.addFault(from: sender, "drop data 3")
        script.add(
            "\(ReproductionScript.name(sender)) send \"one\" | \"two\" | \"three\"",
            "\(ReproductionScript.name(place)) expect \"onetwothree\"")
        script.close()
        return script
    }

    private var lossyPath: ReproductionScript {
        // 600 kB are about 415 packets, and 2 MB about 1,380.
        let isRare = severity == .warning
        let losses = severity == .note ? count("lost", in: 1...4) : severity == .warning ? 6 : count("lost", in: 6...8)
        var script = ReproductionScript(
            "\(losses) packet\(losses == 1 ? "" : "s") to the \(place.word) \(losses == 1 ? "is" : "are") lost")
        script.end = place.opposite
        script.add("link C <-> S delay 5ms")
        script.connect()
        for index in 0..<losses {
            script.addFault(from: place.opposite, "drop data \(50 + index * (isRare ? 200 : 40))")
        }
        script.transfer(isRare ? "2MB" : "600kB", from: place.opposite)
        script.close()
        return script
    }

    private var reordering: ReproductionScript {
        let isRare = severity == .note
        var script = ReproductionScript("segments to the \(place.word) overtake each other")
        script.end = place
        script.connect()
        for index in 0..<(isRare ? 1 : 8) { script.addFault(from: place.opposite, "swap data \(50 + index * 20)") }
        script.transfer(isRare ? "600kB" : "300kB", from: place.opposite)
        script.close()
        return script
    }

    private var spuriousRetransmission: ReproductionScript {
        var script = ReproductionScript(
            "segments from the \(place.word) are delayed for so long that it retransmits them")
        script.end = place
        script.add("link C <-> S delay 2ms")
        script.connect()
        for index in 0..<(severity == .note ? 1 : 10) {
            script.addFault(from: place, "delay data \(30 + index * 20) by 40ms")
        }
        script.transfer("500kB", from: place)
        script.wait(100)
        script.close()
        return script
    }

    private var mtuBlackHole: ReproductionScript {
        let sender = place.opposite
        // Packets that are as large as the largest one that arrived must still arrive.
        let limit = min(count("largest-acknowledged", in: 880...1280) + 120, 1400)
        var script = ReproductionScript("packets larger than \(limit) bytes to the \(place.word) disappear")
        script.end = sender
        script.connect()
        script.exchange()
        script.addFault(from: sender, "mtu \(limit) silent")
        script.add("\(ReproductionScript.name(sender)) send \"x\" * 1400 | \"y\"")
        script.wait(2000)
        return script
    }

    private var vanished: ReproductionScript {
        var script = ReproductionScript("the \(place.word) vanishes")
        script.end = place.opposite
        script.connect()
        script.exchange()
        script.add(
            "\(ReproductionScript.name(place)) vanish silently",
            "\(ReproductionScript.name(place.opposite)) send line \"are you there?\"")
        script.wait(2000)
        return script
    }

    private var keepAliveFailed: ReproductionScript {
        var script = ReproductionScript("the \(place.word) vanishes from an idle connection")
        script.end = place.opposite
        script.options[place.opposite] = "with keepalive 1s"
        script.connect()
        script.exchange()
        script.add("\(ReproductionScript.name(place)) vanish silently")
        script.wait(3500)
        return script
    }

    private var bufferbloat: ReproductionScript {
        var script = ReproductionScript("the queue of a bottleneck on the way to the \(place.word) fills up")
        script.end = place.opposite
        script.addFault(from: place.opposite, "rate 60kB/s queue 200kB")
        script.connect()
        script.transfer("200kB", from: place.opposite)
        script.close()
        return script
    }
}
