import ProbeBase
import Glibc
import ProbeEvents

/// The markup of a crowd on a page: its counts, histograms and percentiles of its members' waits, and its progress over
/// time.
struct CrowdMarkup {
    private static let bins = 48

    let crowd: CrowdResult
    /// A link to the case that contains the crowd.
    let heading: HTMLText

    var html: HTMLText {
        var html: HTMLText = .element(
            "h3", [:], .text("\(crowd.name): \(ByteText.count(crowd.members, "member")) in "), heading)
        let counts = crowd.counts.filter { $0.count > 0 }
        let facts = counts.map { count in
            let isBytes = count.name == "sent" || count.name == "received"
            return isBytes ? "\(Self.bytes(Double(count.count))) \(count.name)" : "\(count.count) \(count.name)"
        }
        html += PageFrame.facts(facts)
        if !crowd.failures.isEmpty {
            html += .element(
                "ul", ["class": "details"],
                crowd.failures.prefix(20).map { HTMLText.element("li", [:], $0) }.joined)
        }
        var figures = HTMLText.empty
        for latency in crowd.latencies { figures += figure(latency) }
        figures += overTime
        html += .element("div", ["class": "figures"], figures)
        if !crowd.latencies.isEmpty { html += percentiles }
        return .element("article", ["class": "crowd"], html)
    }

    // MARK: Waits

    private func figure(_ latency: CrowdResult.Latency) -> HTMLText {
        let failed = latency.failed > 0 ? ", \(latency.failed) failed" : ""
        let caption = "How long members waited for \(latency.wait): \(ByteText.count(latency.count, "wait"))\(failed)"
        guard let plot = latency.buckets.isEmpty ? percentilePlot(latency) : histogram(latency) else { return .empty }
        return .element("figure", [:], .element("figcaption", [:], caption), plot.html)
    }

    /// Returns a histogram whose axis is the logarithm of the time.
    private func histogram(_ latency: CrowdResult.Latency) -> Plot? {
        let times = latency.buckets.map { max(1, $0.upTo) }
        guard let first = times.min(), let last = times.max() else { return nil }
        let (low, high) = (log10(Double(first)), max(log10(Double(last)), log10(Double(first)) + 0.05))
        var counts = Array(repeating: 0.0, count: Self.bins)
        for (time, bucket) in zip(times, latency.buckets) {
            let place = (log10(Double(time)) - low) / (high - low)
            counts[min(Self.bins - 1, max(0, Int(place * Double(Self.bins))))] += Double(max(0, bucket.count))
        }
        let largest = counts.max() ?? 0
        let times3 = [0, 0.5, 1].map { place in
            (place, DurationText.text(nanoseconds: Int64(clamping: Int(pow(10, low + place * (high - low))))))
        }
        var plot = Plot(
            title: "Histogram of waits for \(latency.wait), from \(times3[0].1) to \(times3[2].1), logarithmic",
            largest: "largest bar: \(Int(largest))", ticks: times3)
        plot.addBars(counts.map { largest > 0 ? $0 / largest : 0 })
        return plot
    }

    /// Returns a chart with one bar for each percentile, for waits that have no histogram.
    private func percentilePlot(_ latency: CrowdResult.Latency) -> Plot? {
        let known = latency.percentiles.compactMap { item in item.time.map { (item.name, max(1, $0)) } }
        guard let largest = known.map(\.1).max() else { return nil }
        let count = Double(known.count)
        var plot = Plot(
            title: "Percentiles of waits for \(latency.wait)",
            largest: "longest \(DurationText.text(nanoseconds: largest))",
            ticks: known.enumerated().map { index, item in ((Double(index) + 0.5) / count, item.0) })
        plot.addBars(known.map { Double($0.1) / Double(largest) })
        return plot
    }

    private var percentiles: HTMLText {
        var names: [String] = []
        for latency in crowd.latencies {
            for item in latency.percentiles where !names.contains(item.name) { names.append(item.name) }
        }
        var rows = HTMLText.empty
        for latency in crowd.latencies {
            var cells: HTMLText =
                .element("th", ["scope": "row"], latency.wait)
                + .element("td", [:], "\(latency.count)") + .element("td", [:], "\(latency.failed)")
            for name in names {
                let time = latency.percentiles.first { $0.name == name }?.time
                cells += .element("td", [:], time.map { DurationText.text(nanoseconds: $0) } ?? "–")
            }
            rows += .element("tr", [:], cells)
        }
        return .element(
            "div", ["class": "wide", "tabindex": "0", "role": "group", "aria-label": "Waits of \(crowd.name)"],
            .table("Waits of the members", ["Wait", "count", "failed"] + names, rows))
    }

    // MARK: Over time

    private var overTime: HTMLText {
        let samples = crowd.samples
        guard samples.count > 1 else { return .empty }
        func line(_ name: String, _ value: (CrowdResult.Sample) -> Int) -> Plot.Series {
            Plot.Series(name: name, points: samples.map { (Double(max(0, $0.time)), Double(max(0, value($0)))) })
        }
        let members = [line("connected", \.connected), line("done", \.done), line("failed", \.failed)]
        let bytes = [rate("sent", \.sent), rate("received", \.received)]
        return figure("Members over time", members) { "\(Int($0))" }
            + figure("Throughput over time", bytes) { "\(Self.bytes($0))/s" }
    }

    /// Returns the number of bytes per second between consecutive samples.
    private func rate(_ name: String, _ value: (CrowdResult.Sample) -> Int) -> Plot.Series {
        var points: [(x: Double, y: Double)] = []
        for (before, after) in zip(crowd.samples, crowd.samples.dropFirst()) {
            let seconds = (Double(after.time) - Double(before.time)) / 1e9
            guard seconds > 0 else { continue }
            let passed = max(0, Double(value(after)) - Double(value(before)))
            if points.isEmpty { points.append((Double(max(0, before.time)), passed / seconds)) }
            points.append((Double(max(0, after.time)), passed / seconds))
        }
        return Plot.Series(name: name, points: points)
    }

    private func figure(_ title: String, _ series: [Plot.Series], unit: (Double) -> String) -> HTMLText {
        guard let plot = Plot.overTime(title: "\(title): \(crowd.name)", series, unit: unit) else { return .empty }
        let swatch: HTMLText = .element("svg", ["aria-hidden": "true", "viewBox": "0 0 24 8"], .path(nil, "M0 4H24"))
        let legend = series.enumerated().map { index, line in
            HTMLText.element("span", ["class": "key p\(index % 3)"], swatch, .text(line.name)) + .text(" ")
        }
        return .element("figure", [:], .element("figcaption", [:], .text("\(title): "), legend.joined), plot.html)
    }

    /// Returns a size such as `1.2 MB`.
    private static func bytes(_ value: Double) -> String {
        switch value {
        case ..<1000: "\(Int(value)) bytes"
        case ..<1_000_000: "\(DurationText.fixed(value / 1e3, digits: 1)) kB"
        case ..<1_000_000_000: "\(DurationText.fixed(value / 1e6, digits: 1)) MB"
        default: "\(DurationText.fixed(value / 1e9, digits: 1)) GB"
        }
    }
}
