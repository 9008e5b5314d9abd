// `npm run faults`: real processes on a real PostgreSQL with a synchronous standby, under faults by seed. Exit code 0 only if nothing was
// lost, doubled, illegal, written by a zombie or left stuck.
import { Campaign, type Outcome } from './faults/campaign.ts'
import { faultKinds } from './faults/schedule.ts'
import { showProgress, tellOutcome } from './faults/telling.ts'
import { amount, flag, optionsOf, someOf, whole } from './options.ts'

const options = optionsOf('npm run faults', {
  minutes: amount('how long faults come', 3),
  seed: whole('which faults; left out: by the clock', { from: 0 }),
  workers: whole('worker processes', { from: 1, or: 4 }),
  users: whole('users of the load', { from: 1, or: 20 }),
  only: someOf('only these faults', faultKinds),
  bound: amount('seconds to settle in at most; left out: by the declared deadlines of what is on the way'),
  json: flag('one line at the end, nothing else on the output'),
  figures: flag('writes the section of docs/figures.md'),
  told: flag('what workers meet, on the error output'),
})
const { seed = Date.now() % 1_000_000, minutes, workers, users, only, bound } = options
const campaign = new Campaign({
  seed,
  seconds: minutes * 60,
  workers,
  users,
  only,
  atMostMs: bound === undefined ? undefined : bound * 1_000,
  onProgress: showProgress,
  isTold: options.told,
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
  isJson: options.json,
  hasFigures: options.figures,
})
