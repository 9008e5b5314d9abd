// Declarations read aloud: what preview, explain and refusals show to people.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { declarationOf, healOf } from './declaration.ts'
import { previous } from './landing.ts'
import { lifecycleJson } from './lifecycle-json.ts'
import { resourceType } from './lifecycle.ts'
import { toMermaid } from './to-mermaid.ts'
import { conditionWords, driftWords, healWords, operationWords, timerWords } from './words.ts'

const disk = resourceType('t.disk', {
  properties: z.object({}),
  statuses: { stable: { Free: '', Used: '' }, terminal: { Gone: '' } },
})
const machine = resourceType('t.machine', {
  properties: z.object({ size: z.number(), isSafe: z.boolean(), enabled: z.boolean(), until: z.number() }),
  statuses: {
    stable: { Ready: 'Works.', 'Shut Down': 'Rests.' },
    transitional: { Making: 'Being made.', Ending: 'Being removed.' },
    failed: { Bad: 'Broken.' },
    terminal: { Gone: 'Removed.' },
  },
})
const machines = machine.relations({ disks: { children: disk }, boot: { link: disk } }).lifecycle({
  probes: { power: ['on', 'off'] },
  operations: {
    create: {
      from: [],
      steps: { make: { during: 'Making', creates: 'machine', undo: 'unmake' } },
      to: 'Ready',
      onFailure: { undo: true, status: 'Bad' },
    },
    delete: {
      meaning: 'Removes it.',
      from: ['*'],
      ifBusy: 'preempt',
      queueBehind: 1,
      ifTerminal: 'succeed',
      input: z.object({ reason: z.string().default('') }),
      requires: [{ isSafe: false }, { says: 'it is late', test: ({ now }) => now > 1 }],
      steps: {
        freeDisks: {
          during: { status: 'Ending', move: { disks: { from: ['Used'], to: 'Free' } } },
          forEach: { disks: { in: ['Used'] } },
        },
        stop: { during: 'Ending', when: { enabled: true }, onFailure: { again: '1m', atMost: '1h' } },
      },
      to: { status: 'Gone', set: { enabled: false, size: () => 0 }, link: { boot: null } },
      onFailure: [{ code: ['Locked', 'Busy'], status: 'Bad' }, { status: 'Shut Down' }],
    },
    rest: { from: ['Ready'], steps: { sleep: { during: 'Ending' } }, to: 'Shut Down', onFailure: previous },
  },
  timers: {
    late: { in: ['Ready'], at: 'until', ask: 'delete', again: '1h' },
    idle: { in: ['Ready', 'Bad'], when: { enabled: false }, after: '7d', ask: { disks: 'drop' } },
  },
  heal: {
    Making: {
      resume: true,
      unowned: [
        { when: { boot: { exists: true } }, status: 'Ready' },
        { status: 'Bad', attempt: 'delete' },
      ],
    },
    Ending: {
      withOwner: { boot: ['Used'] },
      probe: { power: { on: 'Ready', off: { status: 'Gone', set: { enabled: false } }, unknown: { again: '1m' } } },
    },
  },
  drift: { Ready: { every: '5m', probe: { power: { on: 'Ready', off: 'Shut Down', unknown: { again: '5m' } } } } },
})
const declaration = declarationOf(machines)

test.each([
  [{ enabled: true }, 'it is enabled'],
  [{ enabled: false }, 'it is not enabled'],
  [{ isSafe: false }, 'isSafe is false'],
  [{ size: 3 }, 'size is 3'],
  [{ size: [3, 4] }, 'size is 3 or 4'],
  [{ size: null }, 'it has no size'],
  [{ boot: ['Free', 'Used'] }, 'boot is Free or Used'],
  [{ boot: { exists: false } }, 'it has no boot'],
  [{ disks: { every: ['Free'] } }, 'every one of its disks is Free'],
  [{ disks: { some: ['Free', 'Used'] }, enabled: true }, 'one of its disks is Free or Used and it is enabled'],
  [{ disks: { none: ['Gone'] } }, 'none of its disks is Gone'],
  [{ says: 'it is late', test: () => true }, 'it is late'],
])('a condition: %j', (when, words) => {
  expect(conditionWords(when)).toBe(words)
})

test('rows of healing, in the order in which they are read', () => {
  expect(Object.keys(declaration.heal).map((status) => healWords(healOf(declaration.heal, status)!))).toEqual([
    'if its run is recorded, go on at the recorded step; if no run is recorded and it has boot, put it to Ready; if no run is recorded, put it to Bad, attempt delete again with its original input',
    'while its boot is Used, it is healed with its boot; if power answers on, put it to Ready; if power answers off, set enabled to false, put it to Gone; if power answers unknown, try again after 1m',
  ])
  expect(driftWords(declaration.drift['Ready']!)).toBe(
    'every 5m it is looked at: if power answers on, put it to Ready; if power answers off, put it to Shut Down; if power answers unknown, try again after 5m',
  )
})

test('operations and timers', () => {
  expect(operationWords('delete', declaration.operations['delete']!)).toEqual([
    'delete starts from any status, interrupting what is under way.',
    'Meanwhile one request may wait.',
    'Asked of what is gone for good, it succeeds and changes nothing.',
    'It requires that isSafe is false, and that it is late.',
    'Steps: freeDisks for each of its disks in Used (Ending), move its disks in Used to Free; stop (Ending), only if it is enabled.',
    'When done: set enabled to false, set size, unlink its boot, put it to Gone.',
    'When a step fails: if the error is Locked or Busy, put it to Bad; otherwise, put it to Shut Down.',
    'When stop fails: try again after 1m, then at most every 1h.',
  ])
  expect(operationWords('create', declaration.operations['create']!)).toContain(
    'When a step fails: undo what was done, put it to Bad.',
  )
  expect(Object.entries(declaration.timers).map(([name, timer]) => timerWords(name, timer))).toEqual([
    'late: at its until, while it is Ready, ask for delete, and again every 1h while that is refused',
    'idle: 7d after it became Ready or Bad, if it is not enabled, ask for drop of its disks',
  ])
})

test('as JSON: functions become their words, schemas JSON Schema, and nothing is lost on the way', () => {
  const json = lifecycleJson(machines)
  expect(JSON.parse(JSON.stringify(json))).toEqual(json)
  expect(json).toMatchObject({
    type: 't.machine',
    properties: { type: 'object', properties: { size: { type: 'number' } } },
    relations: { disks: { kind: 'children', type: 't.disk' }, boot: { kind: 'link', type: 't.disk' } },
    operations: {
      create: { input: null },
      delete: {
        meaning: 'Removes it.',
        input: { type: 'object', properties: { reason: { type: 'string', default: '' } } },
        declared: {
          from: ['*'],
          requires: [{ isSafe: false }, { says: 'it is late' }],
          to: { set: { enabled: false, size: '(computed)' } },
        },
      },
    },
    heal: { Making: { declared: { resume: true } } },
    drift: { Ready: { declared: { every: '5m' } } },
    probes: { power: ['on', 'off'] },
  })
  expect(json['statuses']).toContainEqual({ name: 'Shut Down', kind: 'stable', meaning: 'Rests.' })
})

test('as a diagram: one arrow between two statuses, names with spaces quoted', () => {
  const lines = toMermaid(machines).split('\n')
  expect(lines[0]).toBe('stateDiagram-v2')
  expect(lines).toContain('  state "Shut Down" as s1')
  expect(lines).toContain('  [*] --> s2 : create')
  expect(lines).toContain('  s3 --> s1 : delete fails, rest')
  expect(lines).toContain('  s5 --> [*]')
  expect(lines.filter((line) => line.startsWith('  s3 --> s1'))).toHaveLength(1)
  expect(toMermaid(machines, [machines], ({ kind }) => kind !== 'heal')).not.toContain('healed')
})
