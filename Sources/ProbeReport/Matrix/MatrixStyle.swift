/// The style sheet of the matrix's page, for wide and narrow screens, and print; it follows ``PageStyle``.
enum MatrixStyle {
    static let rules = HTMLText(
        markup: """


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

            """)
}
