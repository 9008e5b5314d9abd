// Lifecycles by chance: three or four related types with whatever the language has, so that words meet in one declaration that no
// catalogue uses together. What the check refuses is passed over.
import { previous, resourceType } from 'homeostat'
import { checkLifecycles } from '../../src/lifecycle/check-lifecycle.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { declarationOf } from '../../src/lifecycle/declaration.ts'
import { Choices, type Stream } from '../../src/testing/choices.ts'
import { hurried } from '../../src/testing/hurried.ts'
import type { Scenario } from '../../src/testing/simulation.ts'
import type { Around as Surroundings } from '../../src/testing/workload.ts'
import { z } from 'zod'

type Data = Record<string, unknown>

const settled = ['Up', 'Down'] as const
const failed = ['Bad', 'Worse'] as const
const statuses = {
  stable: { Up: 'Works.', Down: 'Rests.' },
  transitional: {
    Making: 'Being made.',
    Changing: 'Being changed.',
    Sorting: 'Being sorted.',
    Undoing: 'Being taken back.',
    Removing: 'Being removed.',
    Held: 'Changed with its owner.',
  },
  failed: { Bad: 'Did not work.', Worse: 'Could not be taken back.' },
  terminal: { Gone: 'Removed.' },
} as const
const transitional = Object.keys(statuses.transitional)
const properties = z.object({ size: z.number().default(1), note: z.string().default('') })
const input = z.object({ size: z.number().default(2), leaf: z.string().optional(), host: z.string().optional() })

const root = resourceType('any.root', { properties, statuses })
const leaf = resourceType('any.leaf', { properties, statuses })
const peer = resourceType('any.peer', { properties, statuses })
const twin = resourceType('any.twin', { properties, statuses })

/** The relations of a type: to many that it moves, asks and goes over; to one that moves it; to what it adds. */
interface Around {
  readonly others?: readonly string[]
  readonly owners?: readonly string[]
  readonly adds?: string | null
}

/** Draws the words of one type. */
class Author {
  readonly #stream: Stream
  readonly #others: readonly string[]
  readonly #owners: readonly string[]
  readonly #adds: string | null
  #steps = 0

  constructor(stream: Stream, { others = [], owners = [], adds = null }: Around) {
    this.#stream = stream
    this.#others = others
    this.#owners = owners
    this.#adds = adds
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#stream.below(list.length)]!
  }

  #some<T>(list: readonly T[]): T[] {
    const found = list.filter(() => this.#stream.below(2) === 0)
    return found.length > 0 ? found : [this.#one(list)]
  }

  #maybe(percent: number, make: () => Data): Data {
    return this.#stream.below(100) < percent ? make() : {}
  }

  body(): Data {
    return {
      probes: { look: ['yes', 'no'], state: ['up', 'down', 'lost'] },
      ...this.#maybe(50, () => ({ rules: { one: this.#rule() } })),
      ...this.#maybe(60, () => ({ timers: this.#timers() })),
      ...this.#maybe(40, () => ({ drift: { [this.#one([...settled, 'Bad'])]: this.#drift() } })),
      operations: {
        create: this.#operation([], ['Making', 'Sorting']),
        change: this.#operation(this.#some([...settled, ...failed]), ['Changing', 'Sorting']),
        turn: this.#operation([...settled, ...failed], ['Changing', 'Sorting']),
        rest: this.#operation([...settled, ...failed], ['Sorting', 'Changing']),
        // Through every status, so that each can be reached.
        tour: {
          from: ['Up', 'Down'],
          steps: Object.fromEntries(transitional.map((during) => [`tour${during}`, { during }])),
          to: previous,
          onFailure: 'Worse',
        },
        delete: this.#removal(),
      },
      heal: Object.fromEntries(transitional.map((status) => [status, this.#healRow(status)])),
      ...(this.#owners.length === 0
        ? {}
        : {
            begins: [...settled],
            moves: this.#owners.flatMap(movedBy),
          }),
    }
  }

  #rule(): Data {
    const status = this.#one([...settled, 'Bad'])
    if (this.#others.length === 0) return { says: 'its size is small', holds: { [status]: { size: [1, 2, 3, 4, 5] } } }
    const how = this.#one(['none', 'none', 'every'])
    const named =
      how === 'none'
        ? [this.#one(['Making', 'Changing', 'Down', 'Bad'])]
        : ['Up', 'Down', 'Bad', 'Worse', 'Held', 'Removing', 'Changing', 'Sorting']
    return { says: 'its others fit', holds: { [status]: { [this.#one(this.#others)]: { [how]: named } } } }
  }

  #timers(): Data {
    const timer = () => ({
      in: this.#some([...settled, ...failed]),
      after: this.#one(['5s', '20s']),
      ask:
        this.#others.length > 0 && this.#stream.below(3) === 0
          ? { [this.#one(this.#others)]: this.#one(['change', 'delete']) }
          : this.#one(['rest', 'turn', 'rest', 'delete']),
      ...this.#maybe(30, () => ({ when: { size: [1, 2, 3] } })),
      ...this.#maybe(70, () => ({ again: '4s' })),
      ...this.#maybe(30, () => ({ rank: this.#stream.below(3) })),
    })
    return { first: timer(), ...this.#maybe(40, () => ({ second: timer() })) }
  }

  #drift(): Data {
    return {
      every: '10s',
      probe: {
        state: { up: 'Up', down: { status: 'Down', set: { note: 'seen' } }, lost: 'Bad', unknown: { again: '5s' } },
      },
    }
  }

  /** A status with what changes in the same commit. */
  #landing(among: readonly string[]): Data {
    return { status: this.#one(among), ...this.#changes() }
  }

  #changes(isOver = true): Data {
    return {
      ...this.#maybe(30, () => ({
        set: {
          size: this.#one<unknown>([3, ({ input }: { input?: { size?: number } }) => input?.size ?? 1]),
          ...this.#maybe(30, () => ({ note: 'changed' })),
        },
      })),
      ...this.#maybe(15, () => ({ say: 'So it is.' })),
      ...(this.#others.length === 0
        ? {}
        : this.#maybe(30, () => ({ move: { [this.#one(this.#others)]: this.#move(isOver) } }))),
      ...(!this.#owners.includes('host')
        ? {}
        : this.#maybe(20, () => ({
            link: this.#link(this.#one(this.#owners)),
          }))),
      ...(this.#adds === null
        ? {}
        : this.#maybe(15, () => ({
            add: { [this.#adds!]: { status: this.#one(settled), each: () => [{ size: 1 }] } },
          }))),
    }
  }

  #link(name: string): Data {
    const given = ({ input }: { input?: Record<string, string> }) => input?.[name] ?? null
    return { [name]: this.#one<unknown>([null, given]) }
  }

  #move(isOver: boolean): unknown {
    const to = isOver ? this.#one(['Up', 'Down', 'Bad', 'Gone']) : this.#one(['Held', 'Held', 'Down', 'Up'])
    if (this.#stream.below(2) === 0) return to
    return {
      from: this.#some(['Up', 'Down', 'Bad', 'Held', 'Changing']),
      to,
      ...this.#maybe(30, () => ({ set: { size: 4 } })),
    }
  }

  #operation(from: readonly string[], during: readonly string[]): Data {
    const isNew = from.length === 0
    const steps = this.#listOf(during, isNew)
    const home = [...settled, ...(isNew ? [] : [previous])]
    const target = () => ({ status: this.#one(home), ...this.#changes() })
    const to = this.#stream.below(4) === 0 ? [{ when: { size: [1, 2] }, ...target() }, target()] : target()
    return {
      from,
      ...this.#maybe(60, () => ({ input })),
      ...(isNew ? {} : { ifBusy: this.#one(['refuse', 'queue', 'preempt', 'queue']) }),
      ...this.#maybe(20, () => ({ queueBehind: 2 })),
      ...(this.#others.length > 0
        ? this.#maybe(15, () => ({ requires: [{ [this.#one(this.#others)]: { none: ['Worse'] } }] }))
        : {}),
      ...this.#maybe(20, () => ({ grace: '2s' })),
      ...this.#maybe(15, () => ({ force: '2s' })),
      steps,
      to,
      onFailure: this.#failure(isNew, false, steps, isAlone([steps, to])),
    }
  }

  #failure(isNew: boolean, isRemoval: boolean, steps: Data, mayTryAgain = true): unknown {
    const home = [...failed, ...(isNew ? ['Gone'] : isRemoval ? ['Down'] : [previous, 'Up', 'Down'])]
    const plain = () => ({ status: this.#one(home), ...this.#changes() })
    const isUndone = Object.values(steps).some((one) => (one as Data)['undo'] !== undefined)
    const undoing = () => ({
      undo: true,
      ...this.#maybe(60, () => ({ during: 'Undoing' })),
      ...plain(),
      ifUndoFails: this.#one(failed),
    })
    if (isUndone) return this.#stream.below(3) === 0 ? [{ code: ['cancelled'], ...plain() }, undoing()] : undoing()
    if (mayTryAgain && this.#stream.below(5) === 0) return { again: '2s', atMost: '8s' }
    return this.#stream.below(3) === 0 ? [{ code: ['refused_by_backend', 'cancelled'], ...plain() }, plain()] : plain()
  }

  #removal(): Data {
    const steps = this.#listOf(['Removing', 'Sorting'], false, true)
    const to = {
      status: 'Gone',
      ...(this.#others.length > 0 && this.#stream.below(3) > 0 ? { move: { [this.#one(this.#others)]: 'Gone' } } : {}),
    }
    const triesOn = isAlone([steps, to]) && this.#stream.below(3) > 0
    return {
      from: ['*'],
      ifBusy: this.#one(['preempt', 'preempt', 'queue', 'refuse']),
      ...this.#maybe(50, () => ({ force: '2s', ...this.#maybe(30, () => ({ whileForced: 'Removing' })) })),
      ...this.#maybe(40, () => ({ grace: '2s' })),
      ...this.#maybe(30, () => ({ ifTerminal: 'succeed' })),
      ...this.#maybe(40, () => ({ input })),
      steps,
      to,
      onFailure: triesOn ? { again: '2s' } : this.#failure(false, true, {}, false),
    }
  }

  #listOf(during: readonly string[], isNew: boolean, isRemoval = false): Data {
    const steps: Data = {}
    const count = this.#stream.below(4)
    for (let n = 0; n < count; n++) steps[`step${++this.#steps}`] = this.#step(during, isNew, isRemoval)
    if (isRemoval) steps['clear'] = { during: 'Removing', destroys: 'thing' }
    return steps
  }

  #step(during: readonly string[], isNew: boolean, isRemoval: boolean): Data {
    const status = this.#one(during)
    const what = this.#others.length > 0 ? this.#stream.below(5) : 4
    const to = this.#one(this.#others.length > 0 ? this.#others : [''])
    const common = {
      during: this.#stream.below(3) === 0 ? { status, ...this.#changes(false) } : status,
      ...(isNew ? {} : this.#maybe(20, () => ({ when: { size: [1, 2, 3] } }))),
      ...(isRemoval ? this.#maybe(30, () => ({ ifForced: 'skip' })) : {}),
      ...this.#maybe(25, () => ({ deadline: '12s' })),
    }
    if (what === 0)
      return {
        ...common,
        ask: {
          [to]: {
            operation: this.#one(['rest', 'turn', 'delete']),
            in: this.#some(['Up', 'Down', 'Bad']),
            ...this.#maybe(50, () => ({ failed: 'goOn' })),
          },
        },
      }
    const undo = isRemoval ? {} : this.#maybe(50, () => ({ undo: `undo${this.#steps}` }))
    const more = {
      ...common,
      ...undo,
      ...this.#maybe(30, () => ({ progress: '5s' })),
      ...this.#maybe(50, () => ({ retry: { times: this.#stream.below(3) } })),
      ...this.#maybe(15, () => ({ onFailure: this.#failure(isNew, isRemoval, undo, false) })),
    }
    if (what === 1)
      return {
        ...more,
        forEach: {
          [to]: {
            ...this.#maybe(70, () => ({ in: this.#some(['Up', 'Down', 'Bad', 'Held']) })),
            ...this.#maybe(50, () => ({ done: this.#one(['Up', 'Down', 'Gone']) })),
            ...this.#maybe(50, () => ({ failed: 'Bad' })),
            ...this.#maybe(30, () => ({ stopAtFirst: true })),
          },
        },
      }
    return {
      ...more,
      ...this.#maybe(35, () => ({ probe: 'look' })),
      ...(isRemoval ? {} : this.#maybe(35, () => ({ creates: 'thing' }))),
      ...this.#maybe(30, () => ({ result: z.object({ size: z.number() }) })),
    }
  }

  #healRow(status: string): Data {
    const home = () => this.#landing([...settled, 'Bad'])
    const owner = this.#owners[0]
    if (status === 'Held' && owner !== undefined)
      return {
        withOwner: { [this.#one(this.#owners)]: ['Making', 'Changing', 'Sorting', 'Removing', 'Undoing'] },
        otherwise: home(),
      }
    switch (this.#stream.below(status === 'Undoing' ? 1 : 5)) {
      case 0:
        return { resume: true, unowned: home() }
      case 1:
        return {
          probe: {
            state: {
              up: home(),
              down: { status: 'Down', attempt: 'turn' },
              lost: 'Bad',
              unknown: this.#one<unknown>(['Bad', { again: '5s' }]),
            },
          },
        }
      case 2:
        return {
          status: this.#one([...settled, 'Bad']),
          ...this.#changes(),
          attempt: this.#one(['rest', 'turn', 'delete']),
        }
      case 3:
        return { status: previous, ...this.#changes(), unowned: home() }
      default:
        return status === 'Removing'
          ? { attempt: 'delete' }
          : { resume: true, unowned: { status: 'Bad', attempt: 'rest' } }
    }
  }
}

/** Whether nobody else can stand in its way: only then it is sure to work at last when it is tried again for ever. */
const isAlone = (parts: unknown): boolean => !/"(move|ask|forEach|link)"/.test(JSON.stringify(parts))

const movedBy = (by: string): Data[] => ['Up', 'Down', 'Bad', 'Held', 'Gone'].map((to) => ({ from: ['*'], to, by }))

/** Null where the check refuses what the seed draws. */
export function inventedLifecycles(seed: number): readonly AnyLifecycle[] | null {
  const stream = new Choices(seed).stream('declaration')
  const bodyOf = (around: Around) => new Author(stream, around).body() as never
  const others = stream.below(3) === 0 ? ['peers', 'siblings'] : ['peers']
  const hasTwin = stream.below(3) === 0
  const follows = Object.fromEntries(
    transitional.map((one) => [one, { withOwner: { lead: [one] }, otherwise: { status: 'Bad' } }]),
  )
  const ofRoot = { leaves: { children: leaf }, guests: { linkedBy: peer, as: 'host' } }
  const ofLeaf = { root: { parent: root }, peers: { linkedBy: peer, as: 'leaf' }, siblings: { siblings: leaf } }
  const lifecycles = [
    root
      .relations((hasTwin ? { ...ofRoot, twin: { pair: twin } } : ofRoot) as never)
      .lifecycle(bodyOf({ others: Object.keys(ofRoot), adds: 'leaves' })),
    leaf.relations(ofLeaf as never).lifecycle(bodyOf({ others, owners: ['root', ...others.slice(1)] })),
    peer
      .relations({ leaf: { link: leaf }, host: { link: root } } as never)
      .lifecycle(bodyOf({ owners: ['leaf', 'host'] })),
    ...(hasTwin ? [twin.relations({ lead: { pair: root } } as never).lifecycle({ heal: follows } as never)] : []),
  ] as unknown as AnyLifecycle[]
  return checkLifecycles(lifecycles).some(({ severity }) => severity === 'error') ? null : lifecycles
}

/** Each of the ids that are given leads somewhere. */
const someIds = ({ living, stream }: Surroundings): Record<string, string> => {
  const ids: Record<string, string> = {}
  for (const [name, type] of [
    ['leaf', 'any.leaf'],
    ['host', 'any.root'],
  ] as const) {
    const found = living(type)
    if (found.length > 0 && stream.below(2) === 0) ids[name] = found[stream.below(found.length)]!.id
  }
  return ids
}

export function inventedScenario(seed: number): Scenario | null {
  const lifecycles = inventedLifecycles(seed)
  if (lifecycles === null) return null
  const { operations } = declarationOf(lifecycles[2]!)
  const withInput = Object.keys(operations).filter((name) => operations[name]!.input !== undefined)
  const inputOf = (around: Surroundings) => ({ size: 1 + around.stream.below(4), ...someIds(around) })
  return {
    name: `invented ${seed}`,
    lifecycles: lifecycles.map(hurried),
    links: { 'any.peer': someIds },
    inputs: Object.fromEntries(withInput.map((name) => [`any.peer.${name}`, inputOf])),
  }
}
