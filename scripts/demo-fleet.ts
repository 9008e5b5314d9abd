// `npm start -- --demo`: a small fleet that lives. Something is always being made, changed or removed; now and then a call is slow or
// fails, so that there is something to see. It ends with the server, and goes on with what is there at the next start.
import { setTimeout as sleep } from 'node:timers/promises'
import { HomeostatError, type Engine } from 'homeostat'
import type { World } from 'homeostat/worlds'

const most = { 'sahara.cluster': 4, 'opensds.volume': 8, 'blazar.lease': 5 } as const
type Kind = keyof typeof most
const minute = 60_000

const chance = (below: number): number => Math.floor(Math.random() * below)
const idOf = (kind: Kind): string => `${kind.split('.')[1]}-${Date.now().toString(36).slice(-5)}`

export async function livingFleet(engine: Engine, world: World, signal: AbortSignal): Promise<void> {
  // Those of a demo that was killed are still set.
  await world.faults.clear()
  await world.faults.set({ does: 'slow', ms: 1_500, rate: 0.3 })
  await world.faults.set({ does: 'fail', rate: 0.02, message: 'the demo lets a call fail now and then' })
  while (!signal.aborted) {
    for (const kind of Object.keys(most) as Kind[]) await live(engine, kind).catch(unlessRefused)
    await sleep(2_000 + chance(3_000), undefined, { signal }).catch(() => {})
  }
  await world.faults.clear()
}

/** Whoever asks at random is refused now and then. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof HomeostatError)) throw error
}

async function live(engine: Engine, kind: Kind): Promise<void> {
  const { resources } = await engine.list({ type: kind, limit: 200 })
  const living = resources.filter(({ status }) => status !== 'gone' && status !== 'Deleted')
  const one = living[chance(living.length)]
  if (one === undefined || (living.length < most[kind] && chance(2) === 0)) return make(engine, kind)
  if (one.run !== null) return
  await change(engine, kind, one.id)
}

async function make(engine: Engine, kind: Kind): Promise<void> {
  const by = { by: 'demo' }
  const id = idOf(kind)
  const now = Date.now()
  if (kind === 'sahara.cluster')
    await engine.create(kind, { id, properties: { counts: { worker: 1 + chance(3), master: 1 } } }, by)
  else if (kind === 'opensds.volume') await engine.create(kind, { id, properties: { size: 1 + chance(5) } }, by)
  else
    await engine.create(
      kind,
      { id, properties: { startDate: now + minute, endDate: now + (3 + chance(10)) * minute } },
      { ...by, input: { reservations: [{ resourceType: 'host', amount: 1 + chance(4) }], minutesBeforeEndLease: 1 } },
    )
}

async function change(engine: Engine, kind: Kind, id: string): Promise<void> {
  const by = { by: 'demo' }
  const dice = chance(10)
  if (dice < 2) await engine.operate(kind, id, 'delete', by)
  else if (kind === 'sahara.cluster' && dice < 6)
    await engine.operate(kind, id, 'scale', { ...by, input: { counts: { worker: 1 + chance(4) } } })
  else if (kind === 'opensds.volume' && dice < 5)
    await engine.operate(kind, id, 'extend', { ...by, input: { size: 6 + chance(20) } })
}
