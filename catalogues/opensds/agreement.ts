// For the tests of this catalogue: do the records and what really exists say the same? Answers with the differences, in words.
import type { Engine } from 'homeostat'
import { rootOf, type Truth, type World } from 'homeostat/worlds'

type Found = Awaited<ReturnType<Engine['list']>>['resources'][number]

const gb = 2 ** 30
const transitional = new Set(['Creating', 'Extending', 'Attaching', 'Detaching', 'Deleting'])
/** What a resource in a good status has, and nothing else. */
const kindIn: Readonly<Record<string, string>> = {
  'opensds.volume Available': 'volume',
  'opensds.volume InUse': 'volume',
  'opensds.snapshot Available': 'snapshot',
  'opensds.attachment Attached': 'link',
}

export async function allResources(engine: Engine): Promise<readonly Found[]> {
  const all: Found[] = []
  for (let after: number | null = 0; after !== null;) {
    const { resources, next }: Awaited<ReturnType<Engine['list']>> = await engine.list({ after, limit: 1_000 })
    all.push(...resources)
    after = next
  }
  return all
}

/** Nothing is on the way; every thing is in a ledger, every ledger entry is a thing, and each is as its record says. */
export async function disagreements(engine: Engine, world: World): Promise<readonly string[]> {
  const resources = await allResources(engine)
  const truth = await world.truth()
  const named = new Set(resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))
  return [
    ...truth.filter(({ name }) => !named.has(rootOf(name))).map(({ name }) => `${name} is in no ledger`),
    ...resources.flatMap((one) => differences(one, truth, resources)),
  ]
}

function differences(one: Found, truth: readonly Truth[], resources: readonly Found[]): readonly string[] {
  const name = `${one.type} ${one.id} (${one.status})`
  if (transitional.has(one.status) || one.run !== null) return [`${name} is on the way`]
  const things = truth.filter((thing) => thing.name.startsWith(`${one.type}/${one.id}/`))
  const found: string[] = []
  for (const entry of one.ledger)
    if (entry.state === 'there' && !things.some((thing) => thing.name === entry.name))
      found.push(`${name} has ${entry.name} in its ledger, which is not there`)
  const kind = kindIn[`${one.type} ${one.status}`]
  if (kind === undefined) {
    const isGone = one.status === 'Deleted' || one.status === 'Detached'
    return isGone && things.length > 0 ? [...found, `${name} still has ${things[0]!.name}`] : found
  }
  const [thing] = things
  if (thing === undefined || things.length > 1 || thing.kind !== kind || one.ledger.length !== 1)
    return [...found, `${name} has ${things.length} things and ${one.ledger.length} ledger entries`]
  const size = Number(one.properties['size'])
  if (kind !== 'link' && thing.sizeBytes !== size * gb)
    found.push(`${name} has ${size} GB, its file ${thing.sizeBytes} bytes`)
  if (kind === 'link' && thing.power !== 'running') found.push(`${name} is ${thing.power}`)
  const volume = resources.find(({ no }) => no === one.parent)
  if (kind === 'link' && !thing.links.every((link) => volume?.ledger.some((entry) => entry.name === link)))
    found.push(`${name} is linked to ${thing.links.join(', ')}, not to its volume`)
  return found
}
