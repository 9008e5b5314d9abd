// The headers by which browsers are told to be careful, the same for every answer: helmet says them once, at the start.
import { createHash } from 'node:crypto'
import helmet from '@fastify/helmet'
import fastify from 'fastify'
import { pageStyle } from './docs-page.ts'

/** No inline script anywhere; the one inline style of our own pages is named by its hash. `secure`: it is reached over TLS. */
export async function securityHeaders(secure: boolean): Promise<Record<string, string>> {
  const hash = createHash('sha256').update(pageStyle).digest('base64')
  const app = fastify()
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'", `'sha256-${hash}'`],
        'img-src': ["'self'", 'data:'],
        'font-src': ["'self'"],
        'connect-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': ["'self'"],
        'frame-ancestors': ["'none'"],
      },
    },
    strictTransportSecurity: secure ? { maxAge: 31_536_000 } : false,
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
  })
  // Node has not said anything of its own about the answer yet.
  let headers: Record<string, string> = {}
  app.get('/', (_request, reply) => {
    headers = Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
    return reply.send()
  })
  await app.inject('/')
  await app.close()
  return headers
}
