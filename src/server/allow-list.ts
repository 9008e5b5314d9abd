// Who may be called at all, where an operator wants to say so by name: hosts (`hooks.example.com`, `*.example.com`), addresses and networks
// (`203.0.113.7`, `2001:db8::/32`). The list only narrows: what the other rules refuse stays refused.
import { BlockList, isIP } from 'node:net'
import { HomeostatError } from '../base/errors.ts'

export class AllowList {
  readonly #names = new Set<string>()
  readonly #domains: string[] = []
  // One list for each family: a list with both takes every IPv4 address for a mapped one.
  readonly #networks = { ipv4: new BlockList(), ipv6: new BlockList() }
  /** Whether a name that is not on the list may yet stand for an address that is. */
  hasNetworks = false

  /** Throws `address_refused` for what is no host and no network. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry.trim().toLowerCase())
  }

  #add(entry: string): void {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address)
    if (family !== 0) return this.#addNetwork(entry, address, prefix, family === 4 ? 32 : 128)
    const name = entry.replace(/\.$/, '')
    const bare = name.replace(/^\*\./, '')
    // A name that only looks like a number is an address in disguise.
    const isName = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(
      bare,
    )
    if (!isName || /^[\d.]+$/.test(bare)) throw notUnderstood(entry)
    if (name === bare) this.#names.add(name)
    else this.#domains.push(`.${bare}`)
  }

  #addNetwork(entry: string, address: string, prefix: string | undefined, most: number): void {
    const length = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
    if (length < 0 || length > most || entry.split('/').length > 2) throw notUnderstood(entry)
    const family = most === 32 ? 'ipv4' : 'ipv6'
    this.#networks[family].addSubnet(address, length, family)
    this.hasNetworks = true
  }

  hasName(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, '')
    return this.#names.has(name) || this.#domains.some((domain) => name.endsWith(domain))
  }

  hasAddress(address: string): boolean {
    const family = isIP(address)
    if (family === 0) return false
    const kind = family === 4 ? 'ipv4' : 'ipv6'
    return this.#networks[kind].check(address, kind)
  }
}

const notUnderstood = (entry: string) =>
  new HomeostatError(
    'address_refused',
    `'${entry.slice(0, 100)}' cannot be on the list of what may be called: give a host (hooks.example.com, *.example.com), an address or a network (203.0.113.0/24).`,
  )
