// Which fault comes when: the same seed and length give the same list. How often each comes is one table.
import { seededRandom, type Random } from '../../src/base/random.ts'
import type { Loss } from './cluster.ts'
import { leaseMs } from './systems.ts'
import type { Cut } from './proxy.ts'

export type Fault =
  | { readonly does: 'killWorker'; readonly pick: number }
  /** Longer than its lease: it wakes up as a zombie. */
  | { readonly does: 'freezeWorker'; readonly pick: number; readonly ms: number }
  | { readonly does: 'cutCommit'; readonly cut: Cut }
  | { readonly does: 'cutLinks'; readonly part: number; readonly seed: number }
  /** They say nothing any more, and are not closed. */
  | { readonly does: 'deadLinks'; readonly part: number; readonly seed: number }
  /** So many packets from now on one connection goes dead, also in the middle of being opened: before, this part of all is cut. */
  | { readonly does: 'deadAfter'; readonly packets: number; readonly part: number; readonly seed: number }
  | { readonly does: 'stall'; readonly ms: number }
  | { readonly does: 'delay'; readonly each: number; readonly ms: number }
  | { readonly does: 'jumpClock'; readonly pick: number; readonly offMs: number }
  | { readonly does: 'exhaustPool'; readonly ms: number }
  | { readonly does: 'killPrimary' }
  | { readonly does: 'killStandby' }
  | { readonly does: 'freezePrimary'; readonly ms: number }
  | { readonly does: 'failOver'; readonly loss: Loss; readonly aliveMs: number }

export type FaultKind = Fault['does']
export type Planned = Fault & { readonly atMs: number }

const hour = 3_600_000

/** Every so many seconds on average, and what exactly. */
const table: readonly { readonly everyS: number; readonly make: (random: Random) => Fault }[] = [
  { everyS: 3.5, make: (random) => ({ does: 'killWorker', pick: random.below(1_000) }) },
  {
    everyS: 3.5,
    make: (random) => ({ does: 'freezeWorker', pick: random.below(1_000), ms: leaseMs + 700 + random.below(1_500) }),
  },
  { everyS: 0.5, make: (random) => ({ does: 'cutCommit', cut: cutBy(random) }) },
  { everyS: 12, make: (random) => ({ does: 'cutLinks', part: 30 + random.below(70), seed: random.below(1e9) }) },
  { everyS: 20, make: (random) => ({ does: 'deadLinks', part: 10 + random.below(30), seed: random.below(1e9) }) },
  { everyS: 30, make: (random) => ({ does: 'stall', ms: 300 + random.below(2_500) }) },
  { everyS: 15, make: (random) => ({ does: 'delay', each: 2 + random.below(40), ms: 500 + random.below(1_500) }) },
  { everyS: 10, make: (random) => ({ does: 'jumpClock', pick: random.below(1_000), offMs: jumpBy(random) }) },
  { everyS: 45, make: (random) => ({ does: 'exhaustPool', ms: 500 + random.below(1_500) }) },
  { everyS: 30, make: () => ({ does: 'killPrimary' }) },
  { everyS: 40, make: () => ({ does: 'killStandby' }) },
  { everyS: 45, make: (random) => ({ does: 'freezePrimary', ms: 500 + random.below(2_500) }) },
  {
    everyS: 22,
    make: (random) => ({
      does: 'failOver',
      loss: random.below(2) === 0 ? 'killed' : 'frozen',
      aliveMs: random.below(1_500),
    }),
  },
  {
    everyS: 6,
    make: (random) => ({
      does: 'deadAfter',
      packets: random.below(60),
      part: random.below(2) * 30,
      seed: random.below(1e9),
    }),
  },
]

function cutBy(random: Random): Cut {
  const where = (['before', 'middle', 'after'] as const)[random.below(3)]!
  const side = random.below(2) === 0 ? 'request' : 'reply'
  // The ends are where it matters: half of the cuts are there.
  const through = random.below(2) === 0 ? 0.999 : random.below(1_000) / 1_000
  return { side, through, where }
}

const jumpBy = (random: Random): number => [hour, -hour, 24 * hour, -60_000, 60_000, 0][random.below(6)]!

export const faultKinds: readonly FaultKind[] = table.map(({ make }) => make(seededRandom(0)).does)

/** In the order of time, none in the last part: everything is to be under way when they stop. */
export function scheduleOf(seed: number, seconds: number, only?: readonly FaultKind[]): Planned[] {
  const planned: Planned[] = []
  table.forEach(({ everyS, make }, index) => {
    const random = seededRandom(seed * 100 + index)
    if (only !== undefined && !only.includes(make(random).does)) return
    // Evenly with some chance: every kind comes as often as its row says, also in a short run.
    for (
      let at = everyS * (0.2 + random.below(1_000) / 1_250);
      at < seconds;
      at += everyS * (0.5 + random.below(1_000) / 1_000)
    )
      planned.push({ ...make(random), atMs: Math.round(at * 1_000) })
  })
  return planned.sort((a, b) => a.atMs - b.atMs)
}
