import { submissionRow } from './control/submission-row.js';
import { FAULT_KINDS } from './faults.js';
import { escapeXml } from './http/call.js';
import { OPERATIONS } from './services.js';
import type { Simulation } from './simulation.js';

/** As many of the newest documents as the page shows. */
const SHOWN = 50;
/** A verdict needs more than a form asks for. */
const KINDS = FAULT_KINDS.filter((kind) => kind !== 'verdict');

/** The page for people: addresses, the newest documents, and what the control interface can do with one click. */
export function page({
  ledger,
  faults,
  clock,
  publicUrl,
}: Pick<Simulation, 'ledger' | 'faults' | 'clock' | 'publicUrl'>): string {
  const url = escapeXml(publicUrl());
  const newest = Array.from(ledger.list()).slice(-SHOWN).reverse();
  const documents = newest.map((each) => submissionRow(each, clock().getTime()));
  const rows = documents.map(
    ({ id, received_at, env, operation, rnc, encf, code, status, track_id }) => `<tr>
<td title="${received_at}">${received_at.slice(11, 19)}</td><td>${env}</td><td>${operation}</td><td>${escapeXml(rnc ?? '–')}</td>
<td><a href="/_control/submissions/${id}/xml">${escapeXml(encf ?? 'XML')}</a></td><td><span class="${STATUS_CLASSES[Number(code)] ?? 'open'}">${escapeXml(status)}</span></td>
<td class="id">${escapeXml(track_id ?? '–')}</td></tr>`,
  );
  const active = faults.list().filter(({ times }) => times !== 0);
  const faultRows = active.map(
    ({ id, operation, kind, times }) =>
      `<li><b>${kind}</b> on ${operation === '*' ? 'every operation' : operation}, ${
        times === null ? 'until deleted' : `${times} ${times === 1 ? 'call' : 'calls'}`
      } <button type="button" data-method="DELETE" data-path="faults/${encodeURIComponent(id)}">Delete</button></li>`,
  );
  const choices = (values: readonly string[]) => values.map((value) => `<option>${value}</option>`).join('');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Authority simulator</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body>
<header><h1>Authority simulator</h1><p>Plays the tax authority for software under development. Documents here have no legal effect.</p></header>
<main>
<section><h2>Addresses</h2>
<dl><dt>Services</dt><dd>${url}/testecf/… <span>also /certecf and /ecf</span></dd>
<dt>Status</dt><dd>${url}/api/estatusservicios/…</dd>
<dt>Control</dt><dd>${url}/_control/…</dd>
<dt>Test certificate</dt><dd><a href="/_control/certificate">test.p12</a> <span>password: simulador</span></dd></dl></section>
<section><h2>Documents</h2>
${
  rows.length === 0
    ? '<p class="empty">No document has arrived. Send one to the services above, then reload this page.</p>'
    : `<div class="wide"><table><thead><tr><th>Received</th><th>Environment</th><th>Operation</th><th>Issuer</th><th>eNCF</th><th>Status</th><th>trackId</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
<p><button type="button" data-method="POST" data-path="reset">Delete all documents and faults</button> <span>The newest ${SHOWN} are shown; <a href="/_control/submissions">all as JSON</a>.</span></p>`
}</section>
<section><h2>Faults</h2>
${faultRows.length === 0 ? '<p class="empty">Every call is answered normally.</p>' : `<ul>${faultRows.join('\n')}</ul>`}
<form><label>Operation <select name="operation"><option value="*">every operation</option>${choices(OPERATIONS)}</select></label>
<label>Fault <select name="kind">${choices(KINDS)}</select></label>
<label>Calls <input name="times" type="number" min="1" value="1" placeholder="all"></label>
<button>Add</button> <output></output></form></section>
</main>
<script>${SCRIPT}</script>
</body></html>
`;
}

/** By the authority's code. */
const STATUS_CLASSES: Readonly<Record<number, string>> = { 1: 'good', 2: 'bad', 4: 'good' };

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d8dde3,#3a4149);--quiet:light-dark(#5b6672,#9aa5b1);--card:light-dark(#fff,#1d2227)}
body{margin:0;background:light-dark(#f4f6f8,#14181c);color:light-dark(#1b2530,#e6eaee);font:15px/1.5 system-ui,sans-serif}
header,main{max-width:76rem;margin:0 auto;padding:0 1.5rem}
h1{font-size:1.5rem;margin:2rem 0 0}header p,span,.empty{color:var(--quiet)}header p{margin:.2rem 0 1.5rem}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem 1.25rem;margin-bottom:1.25rem}
h2{font-size:1.05rem;margin:0 0 .6rem}p,ul{margin:.6rem 0}ul{padding-left:1.2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.5rem;margin:0}dt{color:var(--quiet)}
dd{margin:0;overflow-wrap:anywhere}dd,.id,td:nth-child(4),td:nth-child(5){font-family:ui-monospace,monospace;font-size:.9em}dd span{font-family:system-ui,sans-serif}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;white-space:nowrap;font-size:.87rem}
th,td{text-align:left;padding:.4rem .9rem .4rem 0;border-bottom:1px solid var(--line)}th{font-weight:600;color:var(--quiet)}
td span{padding:.1rem .5rem;border-radius:4px;background:light-dark(#e8ecf0,#2c333a);color:inherit}
td .good{background:light-dark(#d9f2e0,#173d25)}td .bad{background:light-dark(#fbdcdc,#4a1d1d)}
form{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;margin-top:.8rem}input{width:4.5rem}
button,select,input{font:inherit;padding:.25rem .6rem;border:1px solid var(--line);border-radius:5px;background:light-dark(#f4f6f8,#2c333a);color:inherit}
button{cursor:pointer}a{color:light-dark(#0b5cad,#7db8f0)}output{color:light-dark(#b3261e,#f2a09b)}
`;

const SCRIPT = `
const control = async (method, path, body) => {
  const response = await fetch('/_control/' + path, { method, body });
  if (response.ok) location.reload();
  else document.querySelector('output').textContent = (await response.json()).detail;
};
for (const button of document.querySelectorAll('[data-path]'))
  button.onclick = () => control(button.dataset.method, button.dataset.path);
document.querySelector('form').onsubmit = (event) => {
  event.preventDefault();
  const { operation, kind, times } = Object.fromEntries(new FormData(event.target));
  const more = { ...(times && { times: Number(times) }), ...(kind === 'slow' && { delay_ms: 5000 }) };
  control('POST', 'faults', JSON.stringify({ operation, kind, ...more }));
};
`;
