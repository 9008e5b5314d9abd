// Where the server is and how it is spoken to: a URL, and encryption with a verified certificate wherever the way leaves the machine.
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { HomeostatError } from '../../base/errors.ts'

export interface AddressOptions {
  /** `postgres://user@host:5432/database`. What it leaves out is taken from the PG* variables of the environment, as usual. */
  readonly url: string
  /**
   * `verify-full`: encrypted, with a certificate that is valid and names the host; the default unless the server is on this machine
   * or the URL says something else by `sslmode`. `off`: not encrypted. Or the options of node:tls, for a private authority.
   */
  readonly tls?: 'verify-full' | 'off' | ConnectionOptions | undefined
}

export function addressOf({ url, tls }: AddressOptions): ClientConfig {
  const parsed = parse(url)
  const mode = parsed.searchParams.get('sslmode')
  if (tls !== undefined && mode !== null)
    throw new HomeostatError(
      'store_unsuitable',
      `Encryption is set twice: by tls and by sslmode=${mode}. Leave one out.`,
    )
  const address: ClientConfig = { connectionString: url, application_name: 'homeostat' }
  if (tls === 'off') return { ...address, ssl: false }
  if (typeof tls === 'object') return { ...address, ssl: tls }
  if (tls === 'verify-full' || (mode === null && !isHere(parsed)))
    return { ...address, ssl: { rejectUnauthorized: true } }
  return address
}

function parse(url: string): URL {
  try {
    const parsed = new URL(url)
    if (/^postgres(ql)?:\/\//i.test(url)) return parsed
  } catch {
    // Told below: the text may hold a password and is not repeated.
  }
  throw new HomeostatError(
    'store_unsuitable',
    'The address of PostgreSQL must be a URL: postgres://user@host:5432/database.',
  )
}

/** A socket file, or the loopback of this machine. */
function isHere(url: URL): boolean {
  const host = (url.searchParams.get('host') ?? decodeURIComponent(url.hostname)).replace(/^\[|\]$/g, '')
  return (
    host === '' || host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
  )
}

/** The address without its password, for people to read. */
export function shownAddress(url: string): string {
  const parsed = parse(url)
  parsed.password = ''
  parsed.search = ''
  return parsed.href
}
