/** The style sheet for the reference page and the error pages. It follows the light or dark mode of the system. */
export const style = `
:root {
  color-scheme: light dark;
  --text: #1c2024; --soft: #5b6470; --line: #d9dee4; --ground: #ffffff; --panel: #f5f7f9; --link: #0b5cad;
  --get: #0b6e4f; --post: #0b5cad; --patch: #8a5a00; --put: #8a5a00; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e9ec; --soft: #9aa5b1; --line: #343b43; --ground: #14171a; --panel: #1d2126; --link: #7ab7ff;
    --get: #5ed3a6; --post: #7ab7ff; --patch: #e3b34f; --put: #e3b34f; --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; padding: .75rem 1rem; background: var(--ground); z-index: 1; }
.skip:focus { left: 0; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 1rem; padding-bottom: .35rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 0 0 .25rem; }
h4 { font-size: .8rem; margin: 1.5rem 0 .5rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
p { margin: .5rem 0; max-width: 46rem; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--panel); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: .5rem 0; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.code { position: relative; }
.copy { position: absolute; top: .45rem; right: .45rem; font: inherit; font-size: .75rem; padding: .15rem .55rem; color: var(--soft); background: var(--ground); border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.copy:hover { color: var(--text); }
.languages { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: .35rem; margin: 1.5rem 0 1rem; padding: .6rem 0; border: 0; border-bottom: 1px solid var(--line); background: var(--ground); }
.languages legend { float: left; margin-right: .75rem; padding: 0; color: var(--soft); font-size: .85rem; }
.languages input { position: absolute; opacity: 0; }
.languages label { padding: .2rem .75rem; border: 1px solid var(--line); border-radius: 999px; font-size: .85rem; cursor: pointer; }
.languages input:checked + label { border-color: var(--link); color: var(--link); font-weight: 600; }
.languages input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
main:has(#language-curl:checked) .sample:not(.curl),
main:has(#language-typescript:checked) .sample:not(.typescript),
main:has(#language-python:checked) .sample:not(.python) { display: none; }
#search-form { margin: 0 0 1rem; }
#search-form label { display: block; margin-bottom: .25rem; color: var(--soft); font-weight: 600; }
#search { width: 100%; padding: .45rem .6rem; font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
#found { margin: .25rem 0 0; min-height: 1.3em; }
.page { max-width: 44rem; margin: 0 auto; padding: 4rem 1.25rem; }
.reference { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem; border-right: 1px solid var(--line); background: var(--panel); font-size: .9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { margin: .2rem 0; }
nav li a { display: block; overflow-wrap: anywhere; }
nav strong { display: block; margin-bottom: .25rem; color: var(--soft); font-weight: 600; }
nav .title { display: block; font-size: 1.05rem; font-weight: 700; color: var(--text); margin-bottom: 1rem; }
main { padding: 2.5rem clamp(1.25rem, 4vw, 3.5rem) 6rem; max-width: 64rem; }
[hidden] { display: none !important; }
section.operation { padding: 1.5rem 0 2rem; border-bottom: 1px solid var(--line); }
section.operation:last-of-type { border-bottom: 0; }
.line { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; margin: .35rem 0 .75rem; }
.line code { font-size: 1rem; background: none; padding: 0; }
.method { font: 700 .75rem/1 ui-monospace, Menlo, Consolas, monospace; border: 1px solid currentColor; border-radius: 4px; padding: .25rem .4rem; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .put { color: var(--put); } .delete { color: var(--delete); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td:first-child { white-space: nowrap; width: 14rem; }
td:last-child { width: 45%; padding-right: 0; }
.limits { display: block; color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .85rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
summary p { display: inline; }
details > div { padding: 0 .75rem .5rem; }
.status { font-weight: 700; margin-right: .5rem; }
@media (max-width: 50rem) {
  .reference { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; max-height: 45vh; border-right: 0; border-bottom: 1px solid var(--line); }
  .languages legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .code pre { padding-top: 2.25rem; }
  table, tbody, tr, td { display: block; }
  th { display: none; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td, td:first-child, td:last-child { width: auto; border: 0; padding: 0; white-space: normal; }
}
@media print { nav, .skip, .languages, .copy { display: none; } .reference { display: block; } pre { white-space: pre-wrap; overflow-wrap: anywhere; } }
`;
