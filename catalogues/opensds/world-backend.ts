// The backend on a world of homeostat/worlds, real or simulated: a volume and a snapshot are files of their size, an attachment is
// a process that is linked to the volume's file.
import { TerminalError } from 'homeostat'
import { sweeperOf, type Thing, type World } from 'homeostat/worlds'
import type { Asker, Backend, Kept, NewAttachment, NewSnapshot, NewVolume } from './backend.ts'

export interface WorldBackendOptions {
  /** Of all volumes and snapshots together, in GB; left out: without end. */
  readonly capacity?: number
  /** The hosts by id, with their zones; left out: every host exists and reaches every zone. */
  readonly hosts?: Readonly<Record<string, { readonly zones: readonly string[] }>>
}

const gb = 2 ** 30

export const createWorldBackend = (world: World, options: WorldBackendOptions = {}): Backend =>
  new WorldBackend(world, options)

class WorldBackend implements Backend {
  readonly #world: World
  readonly #options: WorldBackendOptions

  constructor(world: World, options: WorldBackendOptions) {
    this.#world = world
    this.#options = options
  }

  async createVolume({ name, id, size, profile, zone, snapshotId }: NewVolume, by: Asker): Promise<void> {
    await this.#needRoom(size, `opensds.volume/${id}/`, by)
    const thing = { kind: 'volume', name, sizeBytes: size * gb, properties: { profile, zone } }
    if (snapshotId === undefined) return void (await this.#world.create(thing, by))
    const source = await this.#must('opensds.snapshot', snapshotId, by)
    await this.#world.copy(source.name, thing, by)
  }

  async sizeOf(volumeId: string, by: Asker): Promise<number | null> {
    const [volume] = await this.#things('opensds.volume', volumeId, by)
    return volume === undefined ? null : sizeIn(volume)
  }

  async checkCapacity(volumeId: string, size: number, by: Asker): Promise<void> {
    await this.#must('opensds.volume', volumeId, by)
    await this.#needRoom(size, `opensds.volume/${volumeId}/`, by)
  }

  async growVolume(volumeId: string, size: number, by: Asker): Promise<number> {
    const volume = await this.#must('opensds.volume', volumeId, by)
    if (sizeIn(volume) >= size) return sizeIn(volume)
    return sizeIn(checked(await this.#world.resize(volume.name, size * gb, by)))
  }

  deleteVolume(volume: Kept, by: Asker): Promise<void> {
    return this.#destroy('opensds.volume', volume, by)
  }

  async takeSnapshot({ name, volumeId }: NewSnapshot, by: Asker): Promise<void> {
    const volume = await this.#must('opensds.volume', volumeId, by)
    await this.#world.copy(volume.name, { kind: 'snapshot', name }, by)
  }

  async hasSnapshot(id: string, by: Asker): Promise<boolean> {
    return (await this.#things('opensds.snapshot', id, by)).length > 0
  }

  deleteSnapshot(snapshot: Kept, by: Asker): Promise<void> {
    return this.#destroy('opensds.snapshot', snapshot, by)
  }

  async attach({ name, id, volumeId, zone, hostId, isShared }: NewAttachment, by: Asker): Promise<void> {
    this.#needHost(hostId, zone)
    const volume = await this.#must('opensds.volume', volumeId, by)
    if (!isShared) await this.#needAlone(volume, id, by)
    await this.#world.create({ kind: 'link', name, properties: { hostId }, links: [volume.name] }, by)
    await this.#world.start(name, by)
  }

  async connection(id: string, by: Asker): Promise<'whole' | 'half' | 'none'> {
    const [link] = await this.#things('opensds.attachment', id, by)
    if (link === undefined) return 'none'
    return link.power === 'running' ? 'whole' : 'half'
  }

  detach(attachment: Kept, by: Asker): Promise<void> {
    return this.#destroy('opensds.attachment', attachment, by)
  }

  sweeper(type: string) {
    return sweeperOf(this.#world, type)
  }

  async #things(type: string, id: string, by: Asker): Promise<readonly Thing[]> {
    return (await this.#world.list({ resource: `${type}/${id}` }, by)).map(checked)
  }

  async #must(type: string, id: string, by: Asker): Promise<Thing> {
    const [thing] = await this.#things(type, id, by)
    if (thing === undefined) throw new TerminalError('not_found', `nothing is stored for ${type} ${id}`)
    return thing
  }

  /** Under the names that are known, and what else is found. */
  async #destroy(type: string, { id, names }: Kept, by: Asker): Promise<void> {
    const found = (await this.#things(type, id, by)).map(({ name }) => name)
    for (const name of new Set([...names, ...found])) await this.#world.destroy(name, by)
  }

  async #needRoom(size: number, own: string, by: Asker): Promise<void> {
    const { capacity } = this.#options
    if (capacity === undefined) return
    const stored = (await this.#world.list({}, by)).map(checked)
    const used = stored.reduce((sum, thing) => sum + (thing.name.startsWith(own) ? 0 : sizeIn(thing)), 0)
    if (used + size > capacity)
      throw new TerminalError('no_capacity', `there is no room for ${size} GB: ${used} of ${capacity} GB are used`)
  }

  #needHost(hostId: string, zone: string): void {
    if (this.#options.hosts === undefined) return
    const host = this.#options.hosts[hostId]
    if (host === undefined) throw new TerminalError('host_not_found', `there is no host ${hostId}`)
    if (!host.zones.includes(zone))
      throw new TerminalError('zone_mismatch', `host ${hostId} does not reach zone ${zone}`)
  }

  /** What an attachment left behind that the records call failed may still be connected: a second host would ruin the data. */
  async #needAlone({ name }: Thing, attachmentId: string, by: Asker): Promise<void> {
    const links = (await this.#world.list({ type: 'opensds.attachment' }, by)).map(checked)
    const own = `opensds.attachment/${attachmentId}/`
    const other = links.find((link) => link.links.includes(name) && !link.name.startsWith(own))
    if (other !== undefined)
      throw new TerminalError(
        'still_connected',
        `the volume is still connected by ${other.resource}: delete that first`,
      )
  }
}

/** An answer that fits no type is no answer. */
function checked(thing: Thing): Thing {
  if (typeof thing.name !== 'string' || !Array.isArray(thing.links)) throw new Error('the world answered nonsense')
  return thing
}

const sizeIn = ({ sizeBytes }: Thing): number => Math.round((sizeBytes ?? 0) / gb)
