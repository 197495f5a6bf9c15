import ProbeReport

/// The style sheet of the page of flows, for light and dark mode, wide and narrow screens, and print.
enum FlowsPageStyle {
    static let element = HTMLText(
        markup: """
            <style>
            :root {
              color-scheme: light dark;
              --back: #fbfbfa; --card: #ffffff; --ink: #1c1f23; --soft: #5b6168; --line: #e2e4e6; --head: #f1f2f3;
              --bad: #b3261e; --bad-back: #fde4e1; --warn: #8a5a00; --warn-back: #fdf0d3;
              --client: #0b5fae; --server: #7a3ea8;
              --data: #0b5fae; --again: #c5221b; --early: #9a6400; --probe: #7a3ea8; --sack: #9a45c4; --ack: #197a4b; --win: #656b72;
              --link: #0b5fae;
              --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
            }
            @media (prefers-color-scheme: dark) {
              :root {
                --back: #14171a; --card: #1c2024; --ink: #e6e8ea; --soft: #a3abb3; --line: #30363c; --head: #22272c;
                --bad: #ff8a80; --bad-back: #4a1f1d; --warn: #f0bf5a; --warn-back: #3d2f10;
                --client: #7cb8f5; --server: #cfa2f2;
                --data: #7cb8f5; --again: #ff7468; --early: #f0bf5a; --probe: #cfa2f2; --sack: #b678e0; --ack: #5fd394; --win: #8b939b;
                --link: #7cb8f5;
              }
            }
            * { box-sizing: border-box; }
            body { margin: 0 auto; padding: 2rem clamp(.75rem, 3vw, 3rem) 3rem; max-width: 92rem; background: var(--back);
              color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
            a { color: var(--link); }
            h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; }
            h2 { margin: 0 0 .6rem; font-size: 1.25rem; line-height: 1.3; overflow-wrap: anywhere; }
            h2 small { color: var(--soft); font: 500 .95rem/1.3 var(--mono); }
            h3 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
            code { font-family: var(--mono); font-size: .82rem; overflow-wrap: anywhere; direction: ltr; unicode-bidi: bidi-override; }
            .sum { margin: .35rem 0 .8rem; color: var(--soft); overflow-wrap: anywhere; }
            .alarm { margin: .8rem 0; padding: .6rem .9rem; border-left: 4px solid var(--bad); background: var(--bad-back);
              overflow-wrap: anywhere; }
            main > section { margin: 1.4rem 0 0; padding: 1.1rem 1.2rem; background: var(--card); border: 1px solid var(--line);
              border-radius: 10px; min-width: 0; }
            main > section:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
            .finding { display: inline-block; padding: 0 .45rem; border-radius: 4px; background: var(--warn-back); color: var(--warn);
              font-size: .82rem; overflow-wrap: anywhere; }
            .back { margin: 1rem 0 0; font-size: .87rem; }
            footer { margin-top: 1.5rem; color: var(--soft); font-size: .85rem; }

            table { width: 100%; border-collapse: collapse; }
            caption, .from { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
            th { text-align: left; font-weight: 600; font-size: .82rem; color: var(--soft); }
            .flows { font-variant-numeric: tabular-nums; }
            .flows th, .flows td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
            .flows th { overflow-wrap: normal; }
            .flows [data-label=client], .flows [data-label=server] { min-width: 11rem; }
            .flows .right { text-align: right; white-space: nowrap; }
            .flows tr:last-child td { border-bottom: 0; }
            @media (max-width: 72rem) {
              .flows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
              .flows, .flows tbody { display: block; }
              .flows tr { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; padding: .55rem 0; border-bottom: 1px solid var(--line); }
              .flows tr:last-child { border-bottom: 0; }
              .flows td, .flows .right { display: block; padding: 0; border: 0; text-align: left; white-space: normal; min-width: 0; }
              .flows td:empty { display: none; }
              .flows td::before { content: attr(data-label) " "; color: var(--soft); font-size: .82rem; }
            }

            .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12rem), 1fr)); gap: .5rem 1.2rem; margin: 0; }
            .facts dt { color: var(--soft); font-size: .82rem; }
            .facts dd { margin: 0; display: flex; flex-wrap: wrap; gap: .25rem; overflow-wrap: anywhere; }
            .said { margin: 0; padding: .5rem .8rem; list-style: none; background: var(--back); border: 1px solid var(--line);
              border-radius: 7px; }
            .said li { display: grid; grid-template-columns: 3.8rem minmax(0, 1fr); padding: .05rem 0 .05rem .7rem; border-left: 3px solid var(--line); }
            .said .more { display: block; } .said b { font-size: .82rem; }
            .said .client { border-color: var(--client); } .said .client b { color: var(--client); }
            .said .server { border-color: var(--server); } .said .server b { color: var(--server); }
            .more { color: var(--soft); }

            .graphs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
            .graph { margin: 0; container-type: inline-size; min-width: 0; }
            figcaption { margin: .3rem 0; font-size: .87rem; color: var(--soft); }
            figcaption strong { color: var(--ink); }
            .ts { display: block; width: 100%; height: auto; }
            .ts path, .ts-swatch path { fill: none; stroke: currentColor; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
            .ts text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--soft);
              paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
            .ts .ts-grid { stroke: var(--line); stroke-width: 1; } .ts .ts-axis { stroke: var(--soft); stroke-width: 1; }
            .ts .ts-fold { stroke: none; fill: var(--head); } .ts .ts-pause { stroke: none; }
            .ts .ts-mark { font-weight: 600; fill: var(--ink); } .ts .ts-rst-word { fill: var(--again); }
            .graph .ts-data { stroke: var(--data); } .graph .ts-early { stroke: var(--early); fill: var(--early); }
            .graph .ts-again { stroke: var(--again); stroke-width: 2.5; } .graph .ts-probe { stroke: var(--probe); }
            .graph .ts-out { stroke: var(--again); } .graph .ts-sack { stroke: var(--sack); stroke-width: 3.5; opacity: .75; }
            .graph .ts-dup { stroke: var(--ack); stroke-width: 2; } .graph .ts-zero { stroke: var(--again); fill: var(--again); }
            .graph .ts-syn, .graph .ts-fin { stroke: var(--ink); fill: var(--card); } .graph .ts-rst { stroke: var(--again); fill: var(--again); }
            .graph .ts-ack { stroke: var(--ack); } .graph .ts-win { stroke: var(--win); stroke-dasharray: 5 3; }
            .ts-legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: .2rem 0 0; padding: 0; list-style: none; font-size: .82rem; }
            .ts-legend li { display: flex; gap: .3rem; align-items: center; }
            .ts-swatch { width: 22px; height: 18px; flex: none; }
            @container (max-width: 27rem) {
              .ts text { font-size: 24px; stroke-width: 6px; }
              .ts .ts-odd { display: none; }
            }

            summary { cursor: pointer; color: var(--soft); }
            .ladder { max-width: 62rem; margin-top: .5rem; font-variant-numeric: tabular-nums; }
            .ladder td { padding: .15rem .9rem .15rem 0; vertical-align: top; color: var(--soft); font-size: .82rem; white-space: nowrap; }
            .ladder th { padding: 0 .9rem .3rem 0; vertical-align: bottom; }
            .ladder .ends { padding-right: 0; } .ladder .ends span { display: inline-block; max-width: 48%; overflow-wrap: anywhere; }
            .ladder .ends span:first-child { color: var(--client); }
            .ladder .ends span:last-child { float: right; text-align: right; color: var(--server); }
            .ladder td:nth-child(3) { width: 100%; padding: 0; color: var(--ink); white-space: normal;
              border-left: 2px solid var(--client); border-right: 2px solid var(--server); }
            .arrow { position: relative; padding: .1rem .8rem .45rem; --tint: var(--client); }
            .arrow::after { content: ""; position: absolute; inset: auto 0 .25rem; border-bottom: 1.5px solid var(--tint); }
            .arrow::before { content: ""; position: absolute; bottom: calc(.25rem - 3.5px); right: 0; border: 4px solid transparent;
              border-left: 8px solid var(--tint); border-right: 0; }
            .server .arrow { --tint: var(--server); text-align: right; }
            .server .arrow::before { right: auto; left: 0; border-left: 0; border-right: 8px solid var(--tint); }
            .odd .arrow { --tint: var(--again); }
            .turn .arrow code { font-weight: 700; }
            .comment { padding: 0 .8rem .3rem; color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
            .server .comment { text-align: right; }
            .ladder .more td { width: auto; padding: .4rem 0; border: 0; text-align: center; color: var(--soft); }
            @media (max-width: 40rem) {
              body { padding-top: 1.2rem; }
              main > section { padding: .8rem .7rem; }
              .ladder, .ladder tbody, .ladder thead { display: block; }
              .ladder thead tr, .ladder tbody tr { display: flex; flex-wrap: wrap; }
              .ladder tbody tr { border-left: 2px solid var(--client); border-right: 2px solid var(--server); }
              .ladder th:not(.ends) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
              .ladder .ends, .ladder td:nth-child(3) { flex: 1 0 100%; }
              .ladder td { padding-left: .8rem; } .ladder td:nth-child(3) { border: 0; }
              .ladder .server { justify-content: flex-end; } .ladder .ends span { font-size: .78rem; max-width: 50%; }
              .ladder tbody .more td { flex: 1 0 100%; }
            }
            @media print { body { background: none; } main > section { border: 0; padding: 0; } }
            </style>
            """)
}
