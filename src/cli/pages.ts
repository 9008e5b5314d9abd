// What a browser is shown at `/`: the console where it has been built, else a plain page that says what is where.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../server/http-server.ts'

/** The folder of the built console, if it is there. */
export const consoleFolder = (): string | null => {
  // From src/cli in a checkout, from dist/src/cli in a package.
  for (const up of ['../../dist/web', '../../web']) {
    const folder = join(import.meta.dirname, up)
    if (existsSync(join(folder, 'index.html'))) return folder
  }
  return null
}

const plain = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Homeostat</title>
<link rel="stylesheet" href="/plain.css">
<main>
<h1>Homeostat is running</h1>
<p id="who">You are not signed in: open the address that was printed at the start.</p>
<table id="fleet"></table>
<ul>
<li><a href="/docs">The API</a>, and <a href="/openapi.json">the same as OpenAPI</a>; <a href="/docs/errors">every error code</a></li>
<li><a href="/readyz">Is it ready?</a> <a href="/metrics">Figures for Prometheus</a></li>
<li>In a terminal: <code>homeostat ls</code>, <code>homeostat --help</code></li>
</ul>
</main>
<script src="/plain.js"></script>
</html>
`

const style = `body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1a202c; background: #f7fafc }
main { max-width: 44rem; margin: 3rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } td { padding: .2rem 1.5rem .2rem 0; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #e2e8f0; background: #1a202c } a { color: #90cdf4 } }
`

/** Signs in with the ticket in the address, which is then taken out of it, and counts what there is. */
const script = `const headers = { 'x-homeostat': '1', 'content-type': 'application/json' }
const json = (path, options = {}) => fetch(path, { headers, ...options }).then((answer) => answer.ok ? answer.json() : Promise.reject(answer))
async function show() {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket')
  history.replaceState(null, '', '/')
  if (ticket) await json('/v1/session', { method: 'POST', body: JSON.stringify({ ticket }) }).catch(() => {})
  const { principal, role } = await json('/v1/session')
  document.getElementById('who').textContent = 'Signed in as ' + principal + ' (' + role + ').'
  const { items } = await json('/v1/lifecycles')
  for (const { type, counts } of items) {
    const row = document.getElementById('fleet').insertRow()
    const words = Object.entries(counts).map(([status, n]) => n + ' ' + status).join(', ')
    row.insertCell().textContent = type
    row.insertCell().textContent = words || 'none yet'
  }
}
show().catch(() => {})
`

const pages: Readonly<Record<string, Page>> = {
  '/': { type: 'text/html; charset=utf-8', body: plain },
  '/plain.css': { type: 'text/css; charset=utf-8', body: style },
  '/plain.js': { type: 'text/javascript; charset=utf-8', body: script },
}

/** Where there is no console. */
export const plainPages = async (path: string): Promise<Page | null> => pages[path] ?? null
