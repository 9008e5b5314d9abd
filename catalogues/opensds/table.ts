// For the tests of this catalogue: a table top with volumes, attachments and snapshots, in few words.
import { TableTop } from 'homeostat/testing'
import { opensds } from './index.ts'

type Found = ReturnType<TableTop['get']>

export class Table extends TableTop {
  constructor() {
    super(Object.values(opensds))
  }

  /** A volume that is there, in this status. */
  volume(status = 'Available', properties: object = {}): Found {
    return this.place('opensds.volume', 'v', status, { properties: { size: 10, ...properties } })
  }

  /** An attachment of volume v that is there, in this status. */
  attachment(id: string, status: string): Found {
    return this.place('opensds.attachment', id, status, { parent: this.#v, properties: { hostId: `host-${id}` } })
  }

  snapshot(id: string, status: string, size = 10): Found {
    return this.place('opensds.snapshot', id, status, { parent: this.#v, properties: { size } })
  }

  creatingVolume(properties: object, source?: string) {
    const links = source === undefined ? {} : { links: { source } }
    return this.creating('opensds.volume', 'w', { properties, ...links })
  }

  attaching(id: string, properties: object = {}) {
    return this.creating('opensds.attachment', id, {
      parent: this.#v,
      properties: { hostId: `host-${id}`, ...properties },
    })
  }

  takingSnapshot(id: string) {
    return this.creating('opensds.snapshot', id, { parent: this.#v })
  }

  /** Everything that its run owes is done, until it stands before this function. */
  doUntil(id: string, call: string): void {
    for (let n = 0; n < 10 && this.get(id).run !== null && this.call(id).function !== call; n++) this.done(id)
  }

  /** The statuses that a resource went through, from the first event on. */
  way(id: string): string[] {
    const way: string[] = []
    for (const { to } of this.eventsOf(id)) if (way.at(-1) !== to) way.push(to)
    return way
  }

  get #v(): { readonly no: number } {
    return { no: this.get('v').no }
  }
}
