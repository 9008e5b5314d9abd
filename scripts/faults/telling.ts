// How a campaign is told: a line that is redrawn while it runs, the outcome in words or as one line of JSON, and the figures.
import { provenance, writeFigures } from '../figures.ts'
import type { Outcome, Progress } from './campaign.ts'
import { isClean, type Verdict } from './judge.ts'

export function showProgress({ phase, seconds, counts, done, ready }: Progress): void {
  if (process.stderr.isTTY !== true) return
  const faults = Object.entries(done)
    .map(([name, count]) => `${name} ${count}`)
    .join(' · ')
  const line = `${phase} ${seconds.toFixed(0)} s · ${ready} workers · ${counts.acknowledged} acknowledged · ${faults}`
  process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns ?? 120) - 1)}`)
}

export interface Summary {
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly illegal: number
  readonly zombieWrites: number
  readonly stuck: number
  readonly rulesBroken: number
  readonly strays: number
  readonly kills: {
    readonly workers: number
    readonly postgres: number
    readonly failovers: number
    readonly zombies: number
    readonly cutCommits: number
    readonly others: Readonly<Record<string, number>>
  }
  readonly fenced: Outcome['fenced']
  readonly commits: number
  readonly events: number
  readonly settledMs: number
  readonly boundMs: number
  readonly seed: number
}

function summaryOf(
  { verdict, done, evidence, fenced, settleMs, boundMs, killedInFailOvers }: Outcome,
  seed: number,
): Summary {
  const { killWorker = 0, freezeWorker = 0, cutCommit = 0, killPrimary = 0, killStandby = 0, failOver = 0 } = done
  const {
    freezePrimary = 0,
    cutLinks = 0,
    deadLinks = 0,
    deadAfter = 0,
    stall = 0,
    delay = 0,
    jumpClock = 0,
    exhaustPool = 0,
  } = done
  return {
    acknowledged: evidence.acknowledged.length,
    lost: verdict.lost.length,
    doubled: verdict.doubled.length,
    illegal: verdict.illegal.length,
    zombieWrites: verdict.zombieWrites.length,
    stuck: verdict.stuck.length,
    rulesBroken: verdict.rules.length,
    strays: verdict.strays.length,
    kills: {
      workers: killWorker,
      postgres: killPrimary + killStandby + killedInFailOvers,
      failovers: failOver,
      zombies: freezeWorker,
      cutCommits: cutCommit,
      others: { freezePrimary, cutLinks, deadLinks, deadAfter, stall, delay, jumpClock, exhaustPool },
    },
    fenced,
    commits: evidence.commits.length,
    events: evidence.numbered,
    settledMs: Math.round(settleMs),
    boundMs: Math.round(boundMs),
    seed,
  }
}

/** Not possible here, and why. */
export const leftOut = [
  'clock jumps are made inside the worker processes (faketime is not among the dependencies)',
  'a full disk has a test of its own (test/faults/full-disk.test.ts)',
]

export function tellOutcome(
  outcome: Outcome,
  { seed, isJson, hasFigures }: { seed: number; isJson: boolean; hasFigures: boolean },
): 0 | 1 {
  if (process.stderr.isTTY === true) process.stderr.write('\r\x1b[K')
  const summary = summaryOf(outcome, seed)
  const { verdict, counts } = outcome
  for (const [promise, faults] of Object.entries(verdict as unknown as Record<keyof Verdict, string[]>))
    for (const fault of faults.slice(0, 10)) process.stderr.write(`${promise}: ${fault}\n`)
  if (hasFigures) writeFigures('Faults', figureLines(outcome, summary))
  if (!isJson) {
    process.stdout.write(`${figureLines(outcome, summary).slice(2).join('\n')}\n`)
    process.stdout.write(
      `Asked again without an answer: ${counts.repeated}; refused: ${JSON.stringify(counts.codes)}\n`,
    )
  }
  process.stdout.write(`${JSON.stringify(summary)}\n`)
  return isClean(verdict) ? 0 : 1
}

function figureLines({ counts, parked }: Outcome, summary: Summary): string[] {
  const { kills, fenced } = summary
  const row = (name: string, value: unknown) =>
    `| ${name} | ${typeof value === 'number' ? value.toLocaleString('en') : String(value)} |`
  const systems = Object.entries(counts.systems)
    .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
    .join(', ')
  const others = Object.entries(kills.others)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
  return [
    provenance(`npm run faults -- ${process.argv.slice(2).join(' ')}`),
    '',
    '| figure | value |',
    '| --- | --- |',
    row('requests acknowledged', `${summary.acknowledged.toLocaleString('en')} (${systems})`),
    row('lost', summary.lost),
    row('doubled', summary.doubled),
    row('illegal transitions', summary.illegal),
    row('zombie writes accepted', summary.zombieWrites),
    row('stuck after the bound', summary.stuck),
    row('rules broken at some commit', summary.rulesBroken),
    row('things outside that no record knows, or the other way round', summary.strays),
    row('workers killed', kills.workers),
    row('PostgreSQL killed', kills.postgres),
    row('failovers (the primary killed, or frozen and waking beside the new one)', kills.failovers),
    row('workers frozen past their lease', kills.zombies),
    row('commits cut in the middle of their exchange', kills.cutCommits),
    row('other faults', others),
    row('late results refused and kept; calls refused outside', `${fenced.late}; ${fenced.calls}`),
    row(
      'commits and events replayed',
      `${summary.commits.toLocaleString('en')}; ${summary.events.toLocaleString('en')}`,
    ),
    row(
      'settled after the last fault; bound by the declared deadlines of what was on the way',
      `${(summary.settledMs / 1_000).toFixed(1)} s; ${Math.round(summary.boundMs / 1_000)} s`,
    ),
    row('runs that wait for a person by declaration', parked),
    '',
    `Not among the faults: ${leftOut.join('; ')}.`,
  ]
}
