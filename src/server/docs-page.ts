// The contract and the error codes as plain pages: no script, nothing from elsewhere, so that the strictest policy holds for them.
import { codes, type ErrorCode } from '../base/errors.ts'
import { openApi } from '../protocol/openapi.ts'
import { parameterNames } from '../protocol/route.ts'
import { routeNames, routeOf, type RouteName } from '../protocol/routes.ts'

const style = `:root{color-scheme:light dark;--line:#d5dbe3;--soft:#f4f6f9;--text:#1a202c;--quiet:#556274;--get:#2b6cb0;--post:#2f855a;--put:#b7791f;--delete:#c53030}
@media(prefers-color-scheme:dark){:root{--line:#2b3440;--soft:#161c24;--text:#e6edf3;--quiet:#a3b0bf;--get:#58a6ff;--post:#3fb950;--put:#d29922;--delete:#f85149}}
*{box-sizing:border-box}body{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--text);background:Canvas}
main{max-width:62rem;margin:0 auto;padding:2rem 1.25rem 6rem}h1{font-size:1.9rem;margin:.2rem 0}h2{margin:3rem 0 1rem;text-transform:capitalize;border-bottom:1px solid var(--line);padding-bottom:.3rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:1rem 0}a{color:var(--get)}p{margin:.4rem 0}.quiet{color:var(--quiet);font-size:.92rem}
details{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;background:var(--soft)}summary{cursor:pointer;padding:.7rem .9rem;list-style:none}summary::-webkit-details-marker{display:none}
details>div{padding:0 .9rem .9rem}code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}pre{overflow:auto;max-height:24rem;padding:.8rem;border:1px solid var(--line);border-radius:6px;background:Canvas}
b.m{display:inline-block;min-width:4.2rem;font:600 12px ui-monospace,monospace}.GET{color:var(--get)}.POST{color:var(--post)}.PUT{color:var(--put)}.DELETE{color:var(--delete)}
dl{margin:0}dt{margin-top:1.4rem;font-weight:600}dd{margin:.2rem 0 0}`

/** Its hash is allowed by the policy; nothing else inline is. */
export const pageStyle = style

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]!)

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(title)}</title><style>${style}</style></head><body><main>${body}</main></body></html>
`

export function contractPage(options: { readonly version: string; readonly dev: boolean }): string {
  const names = routeNames.filter((name) => options.dev || routeOf(name).dev !== true)
  const groups = [...new Set(names.map((name) => routeOf(name).group))]
  const document = openApi(options) as {
    paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, object> }>>
  }
  const sections = groups.map((group) => {
    const rows = names.filter((name) => routeOf(name).group === group).map((name) => rowOf(name, document.paths))
    return `<h2 id="${escaped(group)}">${escaped(group)}</h2>${rows.join('')}`
  })
  return page(
    'Homeostat API',
    `<h1>Homeostat API</h1><p class="quiet">Version ${escaped(options.version)} · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/docs/errors">error codes</a></p>
<p>Send a token as <code>Authorization: Bearer …</code>. Every POST and DELETE that says so takes an <code>Idempotency-Key</code>: asked again with the same key, nothing more is done. Errors are problem details (RFC 9457) with a stable <code>code</code>.</p>
<nav>${groups.map((group) => `<a href="#${escaped(group)}">${escaped(group)}</a>`).join('')}</nav>${sections.join('')}`,
  )
}

function rowOf(
  name: RouteName,
  paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, object> }>>,
): string {
  const route = routeOf(name)
  const operation = paths[route.path]![route.method.toLowerCase()]!
  const query = Object.keys(route.query.shape)
  const facts = [
    route.permission === null ? 'open to everybody' : `needs '${route.permission}'`,
    ...(route.reach === 'installation' && route.permission !== null ? ['for principals of all tenants'] : []),
    ...(parameterNames(route.path).length === 0 ? [] : [`path: ${parameterNames(route.path).join(', ')}`]),
    ...(query.length === 0 ? [] : [`query: ${query.join(', ')}`]),
    ...(route.idempotent ? ['takes an Idempotency-Key'] : []),
    ...(route.condition === 'ifMatchDemanded' ? ['demands If-Match'] : []),
    ...(route.condition === 'ifMatch' ? ['takes If-Match'] : []),
    ...(route.condition === 'ifNoneMatch' ? ['takes If-None-Match'] : []),
  ]
  const body = operation.requestBody === undefined ? '' : `<p>Body</p><pre>${json(operation.requestBody)}</pre>`
  const answer = `<p>Answer ${route.status}</p><pre>${json(operation.responses[String(route.status)]!)}</pre>`
  const errors = route.errors.map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a>`).join(' ')
  return `<details id="${name}"><summary><b class="m ${route.method}">${route.method}</b> <code>${escaped(route.path)}</code><br><span class="quiet">${escaped(route.words)}</span></summary><div><p class="quiet">${escaped(facts.join(' · '))}</p>${body}${answer}${errors === '' ? '' : `<p>Errors: ${errors}</p>`}</div></details>`
}

const json = (value: object): string => escaped(JSON.stringify(value, null, 2))

export function errorsPage(): string {
  const rows = (Object.keys(codes) as ErrorCode[]).map((code) => {
    const { http, exit, retryable, summary } = codes[code]
    return `<dt id="${code}"><code>${code}</code></dt><dd>${escaped(summary)} <span class="quiet">HTTP ${http}, exit ${exit}${retryable ? '; the same request may succeed later' : ''}.</span></dd>`
  })
  return page('Homeostat error codes', `<h1>Error codes</h1><p><a href="/docs">API</a></p><dl>${rows.join('')}</dl>`)
}
