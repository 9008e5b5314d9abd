// Named situations that a long simulation must have been in. A run in which nothing went wrong because nothing happened is red.

export const situations = {
  'zombie fenced': 'A process that had lost a run reported its end, and nothing changed.',
  'late result kept': 'What a call reported after ownership had moved on was kept as evidence.',
  'pre-empted result kept': 'A call of a run that a delete had interrupted ended, and its result was kept.',
  'heal raced': 'Two healers wanted the same resource; one was refused by the store.',
  'commit conflict': 'A commit was refused because others had changed what it had read.',
  'lease lost': 'A process lost its lease and was registered anew.',
  'taken for dead': 'Others ended a process that lived, because its connection broke.',
  'pause survived': 'A process was frozen for less than its lease and went on with its runs.',
  'late success adopted': 'A call was cut, its probe found the effect, and the run went on.',
  'effect repeated': 'A call was cut, its probe found nothing, and it was made again.',
  'delete during step': 'A delete interrupted a step.',
  'delete during rollback': 'A delete interrupted an undoing.',
  'delete during probe': 'A delete interrupted the probe of a cut step.',
  'delete during heal': 'A delete interrupted a healing.',
  'delete joined': 'A second delete joined the first.',
  'delete after a hang': 'A delete interrupted a delete that hung.',
  'step resumed': 'A step went on after its worker was lost.',
  'undo resumed': 'An undoing went on after its worker was lost.',
  'forEach resumed half-way': 'A step over several resources went on after its worker was lost, with some done.',
  'cascade resumed': 'A landing in chunks went on after its worker was lost.',
  'ask survived': 'An asker learned of the end of an asked run from another process than the one that ended it.',
  'ask refused': 'A related resource refused what a step asked of it.',
  'timer after restart': 'A timer was fired by another process than the one that armed it.',
  'timer refused': 'A timer asked for an operation that was refused.',
  'orphan swept': 'A sweeper destroyed what nobody owned.',
  'orphan sweep raced': 'Two sweepers wanted the same orphan; one was refused.',
  'sweep taken over from a dead worker': 'A sweeper was gone in the middle of a sweep, and another went on at once.',
  'sweep failed': 'A sweeper could not destroy an orphan and tried again.',
  'stray found': 'Something existed that no ledger named, and it was destroyed.',
  'budget spent': 'A run was resumed too often, and its failure answer followed.',
  parked: 'A run stopped until somebody acts.',
  'parked and retried': 'A person sent a parked run on.',
  'undo failed': 'An undoing failed for good; what was left became orphans.',
  'forced delete': 'A forced operation ended.',
  'run claimed': 'A run that waited was taken by a worker.',
  'handed over': 'A worker that stopped gave a run back.',
  'request queued': 'A request waited for the run before it.',
  'key replayed': 'The same request was asked again with its key and got its first answer.',
  'rule refused': 'A request was refused because of a rule.',
  'rule failed a run': 'A run failed because its outcome would have broken a rule.',
  'pair moved': 'Both sides of a pair moved in one commit.',
  'unowned healed': 'A transitional resource without a run was healed.',
  'overdue healed': 'A run was overdue although its owner lived, and was healed.',
  'deadline passed': 'A step was not done in time.',
  'healed with attempt': 'Healing asked for the interrupted operation again.',
  'healed by probe': 'Healing asked the world before it landed.',
  'drift found': 'A settled resource was put right by what its probe saw.',
  'store outage survived': 'The store was away, and the same change was committed later.',
  'stale call refused': 'A careful backend refused a call of an older epoch.',
  'breaker opened': 'Too many healings that no crash explains: healing of a type stopped.',
  'run cancelled': 'A run was cancelled.',
  'commit waited for a lock': 'On a server, a commit waited for another one that wrote the same.',
  'commit waited for its number': 'On a server, a commit was ready and waited for the one that was numbered before it.',
  'stale snapshot refused': 'On a server, what a commit had read was no longer so when it came to its turn.',
  'serialization failure retried':
    'On a server, a commit met what another had committed since it began, and was tried again.',
  'unknown commit had happened': 'A commit whose answer was lost was found out to have happened.',
  'unknown commit forbidden': 'A commit whose answer was lost was found out not to have happened, and forbidden.',
  'unknown commit waited for':
    'A commit whose answer was lost was still under way when it was asked for, and waited for.',
  'server died in a commit': 'A server died and came back while commits were under way.',
  'answer lost': 'A client asked again because its answer never came.',
} as const

export type Situation = keyof typeof situations

export class SituationCounts {
  readonly counts = new Map<Situation, number>()

  saw(situation: Situation): void {
    this.counts.set(situation, (this.counts.get(situation) ?? 0) + 1)
  }

  add(others: Iterable<readonly [string, number]>): void {
    for (const [name, count] of others) {
      this.counts.set(name as Situation, (this.counts.get(name as Situation) ?? 0) + count)
    }
  }

  get missing(): Situation[] {
    return (Object.keys(situations) as Situation[]).filter((name) => !this.counts.has(name))
  }
}
