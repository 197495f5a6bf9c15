/// The style that all pages of this package share: colours for light and dark, type, verdicts, blocks of code.
package enum PageStyle {
    package static let rules = HTMLText(
        markup: """

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

            """)
}
