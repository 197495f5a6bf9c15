import ProbeBase

/// Scenarios for findings about the programs at the two ends.
extension RecreatedCondition {
    var wait: ReproductionScript? {
        switch id {
        case .nagleDelayedAck: nagle
        case .tinygrams: tinygrams
        case .slowServer: slowServer
        case .slowClient: slowClient
        case .requestUnfinished: requestUnfinished
        case .slowDrip: slowDrip
        case .noData: noData
        default: nil
        }
    }

    private var nagle: ReproductionScript {
        let (own, other) = (ReproductionScript.name(place), ReproductionScript.name(place.opposite))
        var script = ReproductionScript("the \(place.word) writes each message in two parts, with Nagle's algorithm")
        script.end = place
        script.connect()
        script.add(
            "\(own) set nodelay off", "for i in 1..\(severity == .note ? 2 : 8) {", "  \(own) send \"a\" * 100",
            "  \(own) send \"b\" * 100", "  \(other) expect 200 bytes", "  \(other) send \"c\"",
            "  \(own) expect \"c\"", "}")
        if severity == .note { script.wait(2000) }
        script.close()
        return script
    }

    private var tinygrams: ReproductionScript {
        var script = ReproductionScript("the \(place.word) sends many small segments in quick succession")
        script.end = place
        script.connect()
        script.deliver("\"x\" * 600", from: place, "in pieces of 4B every 2ms")
        script.close()
        return script
    }

    private var slowServer: ReproductionScript {
        var script = ReproductionScript("the server is slow to answer")
        script.connect()
        if severity == .problem {
            script.exchange(pausing: (.server, 30500))
        } else if count("answers", in: 1...3) == 3, milliseconds("median", in: 0...500) == 500 {
            for _ in 1...3 { script.exchange(pausing: (.server, milliseconds("median", in: 550...900))) }
        } else {
            script.exchange(pausing: (.server, 3100))
        }
        script.close()
        return script
    }

    private var slowClient: ReproductionScript {
        var script = ReproductionScript("the client pauses before each request")
        script.connect()
        script.deliver("line \"welcome\"", from: .server)
        for _ in 1...4 { script.exchange(pausing: (.client, 600)) }
        script.close()
        return script
    }

    private var requestUnfinished: ReproductionScript {
        let isRequest = place == .client
        var script = ReproductionScript(
            "the \(place.word) stops in the middle of an HTTP \(isRequest ? "request" : "response")")
        script.end = place
        script.connect()
        let head = #"Host: a.test\r\nContent-Length: 100\r\n\r\n"#
        if isRequest {
            script.add(#"C send "POST / HTTP/1.1\r\n\#(head)" + "x" * 20"#)
        } else {
            script.add(#"C send "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n""#, #"S expect until "\r\n\r\n""#)
            script.add(#"S send "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + "x" * 20"#)
        }
        let other = ReproductionScript.name(place.opposite)
        script.add(#"\#(other) expect until "\r\n\r\n""#, #"\#(other) expect "x" * 20"#)
        script.wait(2200)
        script.close(first: place)
        return script
    }

    private var slowDrip: ReproductionScript {
        var script = ReproductionScript("the client sends a request very slowly")
        script.connect()
        script.add(
            #"C send "GET / HTTP/1.1\r\nHost: a.test\r\nX-a: bbbbbbbbb" in pieces of 4B every 1s"#, "S expect 44 bytes")
        script.deadline = 30
        script.milliseconds = 11000
        script.close()
        return script
    }

    private var noData: ReproductionScript {
        var script = ReproductionScript("a connection on which no data is sent")
        script.connect()
        script.wait(severity == .note ? 100 : 60500)
        script.close()
        return script
    }
}
