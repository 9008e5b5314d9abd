// `npm run faults`: real processes on a real PostgreSQL with a synchronous standby, under faults by seed. Exit code 0 only if nothing was
// lost, doubled, illegal, written by a zombie or left stuck.
//   --minutes n   how long faults come (default 3)      --seed n      which (default: by the clock)
//   --workers n   worker processes (default 4)          --users n     users of the load (default 20)
//   --only a,b    only these faults                     --json        one line at the end, nothing else on the output
//   --bound n     seconds to settle in at most (default: by the declared deadlines of what is on the way)
//   --figures     writes the section of docs/figures.md --told        what workers meet, on the error output
import { parseArgs } from 'node:util'
import { Campaign, type Outcome } from './faults/campaign.ts'
import { showProgress, tellOutcome } from './faults/telling.ts'
import type { FaultKind } from './faults/schedule.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '4' },
    users: { type: 'string', default: '20' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    figures: { type: 'boolean', default: false },
    bound: { type: 'string' },
    told: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
const campaign = new Campaign({
  seed,
  seconds: Number(values.minutes) * 60,
  workers: Number(values.workers),
  users: Number(values.users),
  only: values.only?.split(',') as FaultKind[] | undefined,
  atMostMs: values.bound === undefined ? undefined : Number(values.bound) * 1_000,
  onProgress: showProgress,
  isTold: values.told,
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  process.on(signal, () => {
    process.stderr.write('\nEnding what was started ...\n')
    void campaign.end().then(() => process.exit(code))
  })

const outcome: Outcome = await campaign.run()
process.exitCode = tellOutcome(outcome, {
  seed,
  isJson: values.json,
  hasFigures: values.figures,
})
