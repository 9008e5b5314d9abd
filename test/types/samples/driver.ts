// What a driver is given and may answer, as the declaration says it.
import { again, resourceType, TerminalError, UnknownOutcomeError, type Driver, type LedgerView } from 'homeostat'
import { z } from 'zod'
import { same } from './same.ts'

const disk = resourceType('disk', { properties: z.object({ size: z.number() }), statuses: { stable: { On: '' }, transitional: { Moving: '' } } })
const machine = resourceType('machine', {
  properties: z.object({ memory: z.number() }),
  statuses: { stable: { Off: '', Running: '' }, transitional: { Making: '', Stopping: '' }, failed: { Bad: '' }, terminal: { Gone: '' } },
})
const machines = machine.relations({ disks: { children: disk } }).lifecycle({
  probes: { power: ['on', 'off'] },
  operations: {
    create: { from: [], steps: { make: { during: 'Making', creates: 'machine', undo: 'destroy', result: z.object({ node: z.string() }) } }, to: 'Running', onFailure: { undo: true, status: 'Bad' } },
    stop: { from: ['Running'], input: z.object({ force: z.boolean().default(false) }), steps: { halt: { during: 'Stopping', probe: 'power' } }, to: 'Off', onFailure: 'Running' },
    clean: { from: ['Off'], steps: { cleanDisks: { during: 'Stopping', forEach: { disks: {} } }, askDisks: { during: 'Stopping', ask: { disks: 'clean' } } }, to: 'Off', onFailure: 'Off' },
    delete: { from: ['*'], steps: { destroy: { during: 'Stopping', destroys: 'machine' } }, to: 'Gone', onFailure: { again: '1m' } },
  },
  heal: { Making: { status: 'Bad' }, Stopping: { status: 'Off' } },
})

// One function for each step, undo and probe; a step that asks others has none.
same<Exclude<keyof Driver<typeof machines>, 'sweeper'>, 'make' | 'destroy' | 'halt' | 'cleanDisks' | 'power'>()

export const driver: Driver<typeof machines> = {
  make: async ({ resource, name, key, epoch, attempt, forced, signal, progress, item }) => {
    same<typeof resource.status, 'Off' | 'Running' | 'Making' | 'Stopping' | 'Bad' | 'Gone'>()
    same<typeof resource.properties, { memory: number }>()
    same<typeof name, string | undefined>()
    same<[typeof key, typeof epoch, typeof attempt, typeof forced, typeof item], [string, number, number, boolean, undefined]>()
    signal.throwIfAborted()
    progress('half way')
    return attempt > 1 ? { node: 'n-1' } : again('5s')
  },
  halt: async ({ input, related }) => {
    same<typeof input, { force: boolean }>()
    same<(typeof related.disks)[number]['status'], 'On' | 'Moving'>()
    if (input.force) throw new TerminalError('NoPower', 'there is no power')
    throw new UnknownOutcomeError('the line went dead')
  },
  cleanDisks: async ({ item, results }) => {
    same<typeof item.properties, { size: number }>()
    same<keyof typeof results, 'cleanDisks' | 'askDisks'>()
  },
  // A step of delete and the undo of create: one function that is called for both.
  destroy: async ({ ledger, results }) => {
    same<typeof ledger, readonly LedgerView[]>()
    if ('make' in results) same<typeof results.make, { node: string } | undefined>()
  },
  power: async () => ({ answer: 'on', observed: { memory: 2 } }),
  sweeper: {
    inventory: async () => [{ kind: 'machine', name: 'machine/m-1/machine/1' }],
    destroy: async ({ kind, name, ref, key, signal }) => void [kind, name, ref, key, signal.aborted],
  },
}
export const bare: Driver<typeof machines> = { make: async () => ({ node: '' }), halt: async () => {}, cleanDisks: async () => {}, destroy: async () => again('1m'), power: async () => 'unknown' }
export const error: string = new TerminalError('NoPower').code
