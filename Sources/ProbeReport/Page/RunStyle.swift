/// The style of a run's page; it follows ``PageStyle``.
enum RunStyle {
    static let rules = HTMLText(
        markup: """

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

            """)
}
