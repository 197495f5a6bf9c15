/// The style sheet of all pages, divided into parts. ``PageFrame`` writes the shared part into each page, followed by
/// the parts that the page requires.
package enum PageStyle: Sendable {
    /// The rules that all pages share: light and dark colors, fonts, verdicts, blocks of code.
    case shared

    /// The rules for the page of a run.
    case run

    /// The rules for the drawings of ``SequenceDrawing``.
    case diagram

    /// The rules for the matrix on wide and narrow screens, and in print.
    case matrix

    /// The rules for the page of flows on wide and narrow screens, and in print.
    case flows

    var rules: HTMLText {
        switch self {
        case .shared: HTMLText(markup: Self.sharedRules)
        case .run: HTMLText(markup: Self.runRules)
        case .diagram: HTMLText(markup: Self.diagramRules)
        case .matrix: HTMLText(markup: Self.matrixRules)
        case .flows: HTMLText(markup: Self.flowsRules)
        }
    }

    private static let sharedRules: StaticString = """

        :root {
          color-scheme: light dark;
          --back: #fbfbfa; --card: #ffffff; --ink: #1c1f23; --soft: #62686f; --line: #e2e4e6; --head: #f1f2f3;
          --good: #197a4b; --good-back: #e3f4ea; --bad: #b3261e; --bad-back: #fde4e1; --warn: #8a5a00; --amber: #dfa23b; --warn-back: #fdf0d3;
          --odd: #7a3ea8; --odd-back: #f1e6fa; --new: #0b5fae; --new-back: #e0eefb; --none: #676d74; --none-back: #eceef0;
          --link: #0b5fae; --shade: rgba(20, 24, 28, .38);
          --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #14171a; --card: #1c2024; --ink: #e6e8ea; --soft: #9aa2aa; --line: #30363c; --head: #22272c;
            --good: #5fd394; --good-back: #16352a; --bad: #ff8a80; --bad-back: #4a1f1d; --warn: #f0bf5a; --amber: #b98420; --warn-back: #3d2f10;
            --odd: #cfa2f2; --odd-back: #372349; --new: #7cb8f5; --new-back: #15304b; --none: #8b939b; --none-back: #2a3036;
            --link: #7cb8f5; --shade: rgba(0, 0, 0, .6);
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 2rem clamp(.75rem, 3vw, 3rem) 4rem; max-width: 100rem; background: var(--back);
          color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        a { color: var(--link); }
        h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; }
        small { color: var(--soft); font-weight: 400; font-size: .8rem; }
        code, pre { font-family: var(--mono); font-size: .8rem; }
        .facts { margin: .35rem 0 0; color: var(--soft); }
        .facts span + span::before { content: "·"; margin: 0 .5rem; }
        .alarm { margin: 1rem 0 0; padding: .6rem .9rem; border-left: 4px solid var(--bad); background: var(--bad-back); }
        .tag { display: inline-block; margin-left: .45rem; padding: 0 .45rem; border-radius: 4px; background: var(--none-back);
          color: var(--soft); font-size: .72rem; font-weight: 500; vertical-align: .08em; }
        .cell { display: inline-flex; gap: .3rem; align-items: baseline; padding: .06rem .55rem; border-radius: 99px;
          font-size: .8rem; font-weight: 500; text-decoration: none; white-space: nowrap; }
        a.cell:hover { text-decoration: underline; }
        .cell i { font-style: normal; font-weight: 700; }
        .cell.passed { color: var(--good); }
        .cell.failed { color: var(--bad); background: var(--bad-back); }
        .cell.advisory { color: var(--warn); background: var(--warn-back); }
        .cell.error, .cell.inconclusive { color: var(--odd); background: var(--odd-back); }
        .cell.unexpected { color: var(--new); background: var(--new-back); }
        .cell.expected { color: var(--soft); box-shadow: inset 0 0 0 1px var(--line); }
        .cell.unsupported, .cell.skipped, .cell.notrun { color: var(--none); }
        .about { margin: .4rem 0; max-width: 65ch; }
        pre { margin: .6rem 0; padding: .7rem .85rem; overflow: auto; background: var(--back); border: 1px solid var(--line);
          border-radius: 7px; line-height: 1.45; tab-size: 4; }
        summary { cursor: pointer; color: var(--soft); }
        .mark, .got { color: var(--bad); } .wanted { color: var(--good); } .hint { color: var(--new); }
        .blamed { color: var(--bad); font-weight: 700; }
        .packet { color: var(--new); } .event { color: var(--odd); } .output, .note { color: var(--soft); }
        .links { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: baseline; margin: .5rem 0 0; }
        .links code { color: var(--soft); overflow-wrap: anywhere; user-select: all; }

        """

    private static let runRules: StaticString = """

        body { max-width: 84rem; }
        h2 { margin: 1.6rem 0 .5rem; font-size: 1.2rem; } h3 { font-size: 1rem; margin: 0; }
        h4 { margin: 1rem 0 .3rem; font-size: .93rem; overflow-wrap: anywhere; }
        .soft { color: var(--soft); margin: .35rem 0; overflow-wrap: anywhere; }
        .facts span { overflow-wrap: anywhere; }
        .alarm { overflow-wrap: anywhere; }
        .notes { margin: .8rem 0 0; padding-left: 1.2rem; color: var(--soft); overflow-wrap: anywhere; }
        .counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0 0; padding: 0; list-style: none; }
        .count { display: block; padding: .35rem .8rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card);
          color: var(--ink); text-decoration: none; }
        .count b { font-size: 1.15rem; font-variant-numeric: tabular-nums; } a.count:hover { text-decoration: underline; }
        .count.failed b { color: var(--bad); } .count.passed b { color: var(--good); }
        .count.error b, .count.inconclusive b { color: var(--odd); }
        .list { margin: .3rem 0; padding: 0; list-style: none; } .list li { margin: .3rem 0; overflow-wrap: anywhere; }
        .title { display: block; color: var(--soft); font-size: .87rem; }
        .top { margin-top: 1.2rem; }
        .top > details > summary h2 { display: inline; }
        table { border-collapse: collapse; min-width: min(100%, 20rem); margin: .4rem 0; font-size: .87rem; }
        caption { text-align: left; color: var(--soft); padding-bottom: .2rem; }
        th, td { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
        tbody th { font-weight: 500; } td { font-variant-numeric: tabular-nums; }
        .wide { overflow-x: auto; } .wide td, .wide th { white-space: nowrap; }

        .case { margin: .35rem 0; border: 1px solid var(--line); border-radius: 10px; background: var(--card); content-visibility: auto;
          contain-intrinsic-size: auto 3rem; scroll-margin-top: .5rem; }
        .case.failed, .case.error, .case.inconclusive { border-left: 4px solid var(--bad); }
        .case.error, .case.inconclusive { border-left-color: var(--odd); }
        .case:target { border-color: var(--link); }
        .case > summary { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; padding: .45rem .8rem; list-style: none; }
        .case > summary::-webkit-details-marker { display: none; }
        .case > summary::before { content: "▸"; width: .8em; } .case[open] > summary::before { content: "▾"; }
        .case > summary h3 { color: var(--ink); font-weight: 600; overflow-wrap: anywhere; min-width: 0; }
        .case > summary .title { flex-basis: 100%; padding-left: 1.4em; overflow-wrap: anywhere; }
        .case > div { padding: 0 .9rem .9rem; min-width: 0; }
        summary:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; border-radius: 8px; }
        .finding { margin: .8rem 0; padding: .1rem 0 .1rem .8rem; border-left: 3px solid var(--bad); }
        .skipped .finding, .unsupported .finding { border-left-color: var(--none); }
        .finding h4 { margin: .2rem 0; font-size: 1rem; }
        .details, .hint { margin: .3rem 0; padding-left: 1.1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
        .script { display: flex; margin: .4rem 0; max-height: 40rem; overflow: auto; background: var(--back); border: 1px solid var(--line);
          border-radius: 7px; }
        .script pre { margin: 0; border: 0; background: none; overflow: visible; flex: 1 0 auto; }
        .script .no { flex: none; padding-right: 0; color: var(--soft); text-align: right; user-select: none; }
        mark { display: block; color: inherit; background: var(--bad-back); margin: 0 -.85rem; padding: 0 .85rem; box-shadow: inset 3px 0 var(--bad); }
        mark u { text-decoration: underline wavy var(--bad); text-underline-offset: 2px; }
        pre:focus-visible, .script:focus-visible, .wide:focus-visible { outline: 2px solid var(--link); }
        .timeline { max-height: 40rem; }
        .crowd { margin: .8rem 0; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
        .figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .8rem; margin: .6rem 0; }
        figure { margin: 0; min-width: 0; max-width: 32rem; } figcaption { font-size: .87rem; color: var(--soft); }
        .plot { display: block; width: 100%; height: auto; font: 11px var(--mono); color: var(--ink); }
        .plot text { fill: var(--soft); } .plot .axis { stroke: var(--line); }
        .plot rect { fill: var(--new); } .plot polyline { stroke-width: 1.6; }
        .p0 { color: var(--new); } .p1 { color: var(--good); stroke-dasharray: 6 3; } .p2 { color: var(--bad); stroke-dasharray: 2 2; }
        .key { white-space: nowrap; margin-right: .5rem; } .key svg { width: 1.6em; height: .6em; margin-right: .3em; stroke-width: 2; }

        @media print {
          :root { --back: #fff; --card: #fff; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          .script, .timeline { max-height: none; } .case { break-inside: avoid-page; content-visibility: visible; }
        }

        """

    private static let diagramRules: StaticString = """

        .sq { container-type: inline-size; overflow-x: auto; margin: .6rem 0; padding: .5rem .6rem; background: var(--back);
          border: 1px solid var(--line); border-radius: 7px; }
        .sq:focus-visible { outline: 2px solid var(--link); }
        .sq svg { display: block; width: var(--w); color: var(--ink); font: 12px var(--mono); overflow: hidden; }
        .sq text { fill: currentColor; white-space: pre; paint-order: stroke; stroke: var(--back); stroke-width: 3px;
          stroke-linejoin: round; unicode-bidi: isolate; }
        .sq .l { stroke: var(--none); } .sq .h rect { fill: var(--head); stroke: var(--none); }
        .sq .h text { font-weight: 600; stroke: none; }
        .sq .t, .sq .g { color: var(--soft); } .sq .n { font-style: italic; } .sq .g { font-style: italic; }
        .sq .a { stroke-width: 1.3px; } .sq .d { fill: currentColor; } .sq .w { color: var(--soft); } .sq .a .w { stroke-dasharray: 5 3; }
        .sq .c { color: var(--new); } .sq .u { color: var(--odd); } .sq .f { color: var(--bad); font-weight: 600; }
        .sq .a .f { stroke-width: 2px; }
        @container (min-width: 54rem) {
          .sq:not(.m, .n) svg { width: calc(var(--w) + var(--s)); } .sq:not(.m, .n) .z { transform: translateX(var(--s)); }
        }
        @container (min-width: 74rem) {
          .sq.m svg { width: calc(var(--w) + var(--s)); } .sq.m .z { transform: translateX(var(--s)); }
        }

        """

    private static let matrixRules: StaticString = """


        .scores { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .9rem; margin: 1.6rem 0; }
        .scores article { padding: .9rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
        .scores h2 { margin: 0 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
        .scores p { margin: .35rem 0; }
        .level { display: grid; grid-template-columns: 1fr auto; font-variant-numeric: tabular-nums; }
        .level b { font-weight: 500; color: var(--soft); }
        .bar { grid-column: 1 / 3; width: 100%; height: 6px; border-radius: 3px; margin-top: .15rem; }
        .bar .left { fill: var(--none-back); } .bar .done { fill: var(--good); }
        .bar.must .left { fill: var(--bad); } .bar.should .left { fill: var(--amber); }
        .scores .rest { color: var(--soft); font-size: .83rem; margin-bottom: 0; min-height: 1.2em; }

        .filters { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 .8rem; padding: 0; border: 0; min-width: 0; }
        .filters legend { float: left; margin: .2rem .4rem 0 0; padding: 0; color: var(--soft); }
        .filters input { position: absolute; opacity: 0; pointer-events: none; }
        .filters label { padding: .2rem .75rem; border: 1px solid var(--line); border-radius: 99px; background: var(--card);
          cursor: pointer; font-size: .87rem; }
        .filters input:checked + label { background: var(--ink); color: var(--back); border-color: var(--ink); }
        .filters input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
        body:has(#show-open:checked) .case:not(.open), body:has(#show-must:checked) .case:not(.must),
        body:has(#show-should:checked) .case:not(.should), body:has(#show-may:checked) .case:not(.may),
        tbody:has(.fold:checked) .case { display: none; }
        body:has(#show-open:checked) tbody:not(:has(.open)),
        body:has(#show-must:checked) tbody:not(:has(.must)), body:has(#show-should:checked) tbody:not(:has(.should)),
        body:has(#show-may:checked) tbody:not(:has(.may)) { display: none; }

        main { min-width: 0; }
        table { width: 100%; border-collapse: separate; border-spacing: 0; background: var(--card);
          border: 1px solid var(--line); border-radius: 10px; }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { padding: .32rem .6rem; border-bottom: 1px solid var(--line); text-align: center; font-weight: 400; }
        tbody:last-child tr:last-child > * { border-bottom: 0; }
        th { text-align: left; }
        thead th { position: sticky; top: 0; z-index: 2; background: var(--head); font-weight: 600; text-align: center;
          overflow-wrap: anywhere; min-width: 5.5rem; max-width: 12rem; }
        thead th:first-child { text-align: left; border-top-left-radius: 10px; min-width: 15rem; max-width: none; }
        thead th:last-child { border-top-right-radius: 10px; }
        .group > * { background: var(--head); font-variant-numeric: tabular-nums; color: var(--soft); font-size: .87rem; }
        .group th { font-weight: 600; color: var(--ink); font-size: .95rem; }
        .group label { cursor: pointer; display: flex; gap: .5rem; align-items: baseline; overflow-wrap: anywhere; }
        .group .good { color: var(--good); } .group .short { color: var(--bad); font-weight: 600; }
        .fold { appearance: none; margin: 0; width: .8em; }
        .fold::before { content: "▾"; color: var(--soft); } .fold:checked::before { content: "▸"; }
        .fold:focus-visible { outline: 2px solid var(--link); }
        .case th { max-width: 40rem; line-height: 1.35; overflow-wrap: anywhere; }
        .case th a { color: inherit; text-decoration: none; font-weight: 500; }
        .case th a:hover { text-decoration: underline; }
        .case:hover > * { background: color-mix(in srgb, var(--head) 55%, transparent); }
        .title { display: block; color: var(--soft); font-size: .82rem; }

        td .cell.passed i { font-size: .95rem; }
        td .cell.passed span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        td .cell.passed { padding: .06rem 1.2rem; }

        .story { display: none; }
        .story:target, .story:has(:target) { display: flex; flex-direction: column; position: fixed; inset: 0 0 0 auto; z-index: 10;
          width: min(58rem, 100vw); overflow: auto; overscroll-behavior: contain; padding: 0 1.5rem 3rem;
          background: var(--card); border-left: 1px solid var(--line); box-shadow: 0 0 0 100vmax var(--shade); }
        .story > header { position: sticky; top: 0; display: flex; justify-content: space-between; gap: 1rem;
          align-items: center; margin: 0 -1.5rem; padding: .8rem 1.5rem; background: var(--card);
          border-bottom: 1px solid var(--line); z-index: 1; }
        .story h2 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
        .close { flex: none; width: 2.1rem; height: 2.1rem; border-radius: 99px; display: grid; place-items: center;
          text-decoration: none; color: var(--soft); background: var(--none-back); }
        .headline { font-size: 1.05rem; font-weight: 600; margin: 1rem 0 .4rem; }
        .because { margin: .8rem 0 0; color: var(--soft); } .because + ul { margin: .1rem 0 .8rem; padding-left: 1.3rem; }
        .path { color: var(--soft); overflow-wrap: anywhere; }
        .story > * { flex: none; }
        .result { order: 2; margin: 1rem 0 0; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px;
          scroll-margin-top: 200vh; }
        .result:target { order: 1; border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
        .result h3 { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; margin: 0; font-size: 1rem;
          overflow-wrap: anywhere; }
        .result .cell { margin-left: -.15rem; }
        .why { margin: .5rem 0; overflow-wrap: anywhere; }
        .known { margin: .4rem 0 0; color: var(--soft); }
        .timeline { max-height: 32rem; }

        @media (max-width: 52rem) {
          body { padding-top: 1.2rem; }
          main { overflow-x: auto; }
          thead th { position: static; min-width: 2.6rem; max-height: 12rem; font-size: .8rem; padding: .5rem .3rem;
            writing-mode: sideways-lr; text-align: left; overflow-wrap: normal; }
          @supports not (writing-mode: sideways-lr) { thead th { writing-mode: vertical-rl; } }
          thead th:first-child { min-width: 10rem; writing-mode: horizontal-tb; vertical-align: bottom; }
          tbody th, thead th:first-child { position: sticky; left: 0; background: var(--card); z-index: 1; }
          thead th:first-child, .group th { background: var(--head); }
          td { padding: .3rem .3rem; }
          .title { display: none; }
          td .cell span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          td .cell { padding: .06rem .6rem; }
          .story:target, .story:has(:target) { padding: 0 .9rem 2rem; }
          .story > header { margin: 0 -.9rem; padding: .6rem .9rem; }
        }
        @media print {
          :root { --back: #fff; --card: #fff; --shade: transparent; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          .filters, .close { display: none; }
          thead th, thead th:first-child, tbody th { position: static; }
          tr, .scores article { break-inside: avoid; }
          .story { display: none; }
          .story.open, .story.open:target, .story.open:has(:target) { display: block; position: static; width: auto;
            border: 0; padding: 0; margin-top: 1.5rem; box-shadow: none; }
          .story > header { position: static; margin: 0; padding: .3rem 0; }
          .result { break-inside: avoid-page; }
          pre { white-space: pre-wrap; overflow-wrap: anywhere; }
          .timeline { max-height: none; }
          .cell, .bar, .bar * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }

        """

    private static let flowsRules: StaticString = """

        :root { --sack: #9a45c4; }
        @media (prefers-color-scheme: dark) { :root { --sack: #b678e0; } }
        body { padding-bottom: 3rem; max-width: 92rem; }
        h2 { margin: 0 0 .6rem; font-size: 1.25rem; line-height: 1.3; overflow-wrap: anywhere; }
        h2 small { color: var(--soft); font: 500 .95rem/1.3 var(--mono); }
        h3 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
        code { font-size: .82rem; overflow-wrap: anywhere; direction: ltr; unicode-bidi: bidi-override; }
        header .facts { margin-bottom: .8rem; overflow-wrap: anywhere; }
        .soft { margin: .35rem 0 .8rem; color: var(--soft); overflow-wrap: anywhere; }
        .alarm { margin: .8rem 0; overflow-wrap: anywhere; }
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

        .answers { margin: 0; padding: 0; list-style: none; }
        .answers > li { margin: .6rem 0; padding-left: .8rem; border-left: 4px solid var(--none-back); overflow-wrap: anywhere; }
        .answers > .problem { border-color: var(--bad); } .answers > .warning { border-color: var(--amber); }
        .answers p { margin: 0; max-width: 75ch; } .answers .answer { font-weight: 600; } .answers .tag { margin: 0; }
        .labels { font-size: .82rem; }
        .answers dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem .9rem; margin: .2rem 0 0; font-size: .87rem; }
        .answers dt { color: var(--soft); } .answers dd { margin: 0; max-width: 75ch; }
        .budget { margin: 0; }
        .bar { display: block; width: 100%; height: 1.9rem; }
        .tint-good { --tint: var(--good); } .tint-bad { --tint: var(--bad); } .tint-warn { --tint: var(--warn); }
        .tint-odd { --tint: var(--odd); } .tint-new { --tint: var(--new); } .tint-none { --tint: var(--none); }
        .part rect { fill: var(--tint); stroke: var(--card); stroke-width: 2; }
        .part text { fill: var(--card); font-size: .8rem; font-weight: 600; text-anchor: middle; dominant-baseline: central; }
        .part.hollow rect { fill: var(--card); stroke: var(--tint); } .part.hollow text { fill: var(--tint); }
        .states { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; margin: .4rem 0 0; padding: 0; list-style: none; font-size: .87rem;
          font-variant-numeric: tabular-nums; }
        .states li { display: flex; gap: .4rem; align-items: baseline; }
        .key { flex: none; min-width: 1.5rem; border: 2px solid var(--tint); border-radius: 3px; background: var(--tint); color: var(--card);
          font-size: .75rem; font-weight: 600; line-height: 1.2; text-align: center; print-color-adjust: exact; }
        .key.hollow { background: var(--card); color: var(--tint); }

        .properties { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12rem), 1fr)); gap: .5rem 1.2rem; margin: 0; }
        .properties dt { color: var(--soft); font-size: .82rem; }
        .properties dd { margin: 0; display: flex; flex-wrap: wrap; gap: .25rem; overflow-wrap: anywhere; }
        .said { margin: 0; padding: .5rem .8rem; list-style: none; background: var(--back); border: 1px solid var(--line);
          border-radius: 7px; }
        .said li { display: grid; grid-template-columns: 3.8rem minmax(0, 1fr); padding: .05rem 0 .05rem .7rem; border-left: 3px solid var(--line); }
        .said .more { display: block; } .said b { font-size: .82rem; }
        .said .client { border-color: var(--new); } .said .client b { color: var(--new); }
        .said .server { border-color: var(--odd); } .said .server b { color: var(--odd); }
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
        .ts .ts-mark { font-weight: 600; fill: var(--ink); } .ts .ts-rst-word { fill: var(--bad); }
        .graph .ts-data { stroke: var(--new); } .graph .ts-early { stroke: var(--warn); fill: var(--warn); }
        .graph .ts-again { stroke: var(--bad); stroke-width: 2.5; } .graph .ts-probe { stroke: var(--odd); }
        .graph .ts-out { stroke: var(--bad); } .graph .ts-sack { stroke: var(--sack); stroke-width: 3.5; opacity: .75; }
        .graph .ts-dup { stroke: var(--good); stroke-width: 2; } .graph .ts-zero { stroke: var(--bad); fill: var(--bad); }
        .graph .ts-syn, .graph .ts-fin { stroke: var(--ink); fill: var(--card); } .graph .ts-rst { stroke: var(--bad); fill: var(--bad); }
        .graph .ts-ack { stroke: var(--good); } .graph .ts-win { stroke: var(--none); stroke-dasharray: 5 3; }
        .ts-legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: .2rem 0 0; padding: 0; list-style: none; font-size: .82rem; }
        .ts-legend li { display: flex; gap: .3rem; align-items: center; }
        .ts-swatch { width: 22px; height: 18px; flex: none; }
        @container (max-width: 27rem) {
          .ts text { font-size: 24px; stroke-width: 6px; }
          .ts .ts-odd { display: none; }
        }

        .ladder { max-width: 62rem; margin-top: .5rem; font-variant-numeric: tabular-nums; }
        .ladder td { padding: .15rem .9rem .15rem 0; vertical-align: top; color: var(--soft); font-size: .82rem; white-space: nowrap; }
        .ladder th { padding: 0 .9rem .3rem 0; vertical-align: bottom; }
        .ladder .ends { padding-right: 0; } .ladder .ends span { display: inline-block; max-width: 48%; overflow-wrap: anywhere; }
        .ladder .ends span:first-child { color: var(--new); }
        .ladder .ends span:last-child { float: right; text-align: right; color: var(--odd); }
        .ladder td:nth-child(3) { width: 100%; padding: 0; color: var(--ink); white-space: normal;
          border-left: 2px solid var(--new); border-right: 2px solid var(--odd); }
        .arrow { position: relative; padding: .1rem .8rem .45rem; --tint: var(--new); }
        .arrow::after { content: ""; position: absolute; inset: auto 0 .25rem; border-bottom: 1.5px solid var(--tint); }
        .arrow::before { content: ""; position: absolute; bottom: calc(.25rem - 3.5px); right: 0; border: 4px solid transparent;
          border-left: 8px solid var(--tint); border-right: 0; }
        .server .arrow { --tint: var(--odd); text-align: right; }
        .server .arrow::before { right: auto; left: 0; border-left: 0; border-right: 8px solid var(--tint); }
        .odd .arrow { --tint: var(--bad); }
        .turn .arrow code { font-weight: 700; }
        .ladder tr:target { background: var(--warn-back); }
        .comment { padding: 0 .8rem .3rem; color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
        .server .comment { text-align: right; }
        .ladder .more td { width: auto; padding: .4rem 0; border: 0; text-align: center; color: var(--soft); }
        @media (max-width: 40rem) {
          body { padding-top: 1.2rem; }
          main > section { padding: .8rem .7rem; }
          .ladder, .ladder tbody, .ladder thead { display: block; }
          .ladder thead tr, .ladder tbody tr { display: flex; flex-wrap: wrap; }
          .ladder tbody tr { border-left: 2px solid var(--new); border-right: 2px solid var(--odd); }
          .ladder th:not(.ends) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .ladder .ends, .ladder td:nth-child(3) { flex: 1 0 100%; }
          .ladder td { padding-left: .8rem; } .ladder td:nth-child(3) { border: 0; }
          .ladder .server { justify-content: flex-end; } .ladder .ends span { font-size: .78rem; max-width: 50%; }
          .ladder tbody .more td { flex: 1 0 100%; }
        }
        @media print { body { background: none; } main > section { border: 0; padding: 0; } }
        """
}
