// What the groups of the conformance suite share: guards, pictures of a world, and a story that uses every change once.
import type { Guard, World } from './world.ts'

export const never: AbortSignal = new AbortController().signal

/** A guard of `lab.box/<id>`. */
export const guard = (
  key: string,
  { epoch = 1, id = 'b1', signal = never, step }: Partial<Guard> & { readonly id?: string } = {},
): Guard => ({
  key,
  epoch,
  resource: `lab.box/${id}`,
  signal,
  step,
})

export const nameOf = (kind: string, n = 1, id = 'b1'): string => `lab.box/${id}/${kind}/${n}`

/** How a call failed. */
export async function failureOf(call: Promise<unknown>): Promise<{ readonly name: string; readonly code: unknown }> {
  const thrown = await call.then(
    () => null,
    (error: unknown) => error as Error & { code?: unknown },
  )
  return thrown === null ? { name: 'none', code: undefined } : { name: thrown.name, code: thrown.code }
}

/** Whether it has ended, without waiting for it. */
export function watched<T>(call: Promise<T>): { readonly call: Promise<T>; isOver: boolean } {
  const watch = { call, isOver: false }
  const over = () => void (watch.isOver = true)
  call.then(over, over)
  return watch
}

/** Everything in it, without what is another in every world. Content is told by the first thing that has it. */
export async function picture(world: World): Promise<readonly unknown[]> {
  const truth = await world.truth()
  return truth.map(({ pid: _pid, path: _path, content, ...thing }) => ({
    ...thing,
    content: content === null ? null : truth.find((one) => one.content === content)!.name,
  }))
}

const [machine, disk, snapshot, clone] = [nameOf('machine'), nameOf('disk'), nameOf('snapshot'), nameOf('clone')]

/** Calls that use every change; each has its own key, and finds what the ones before it left. */
export const story: readonly ((world: World) => Promise<unknown>)[] = [
  (world) => world.create({ kind: 'machine', name: machine, properties: { memory: 1 } }, guard('k1')),
  (world) => world.create({ kind: 'disk', name: disk, sizeBytes: 1_000_000 }, guard('k2')),
  (world) => world.start(machine, guard('k3', { epoch: 2 })),
  (world) => world.link(disk, machine, guard('k4', { epoch: 2 })),
  (world) => world.copy(disk, { kind: 'snapshot', name: snapshot, links: [disk] }, guard('k5', { epoch: 2 })),
  (world) => world.resize(disk, 5_000_000, guard('k6', { epoch: 2 })),
  (world) => world.pause(machine, guard('k7', { epoch: 2 })),
  (world) => world.update(machine, { memory: 2 }, guard('k8', { epoch: 2 })),
  (world) => world.unlink(disk, machine, guard('k9', { epoch: 2 })),
  (world) => world.resume(machine, guard('k10', { epoch: 2 })),
  (world) => world.copy(snapshot, { kind: 'clone', name: clone, sizeBytes: 9_000_000 }, guard('k11', { epoch: 2 })),
  (world) => world.destroy(snapshot, guard('k12', { epoch: 2 })),
  (world) => world.start(clone, guard('k13', { epoch: 2 })),
  (world) => world.stop(clone, guard('k14', { epoch: 2 })),
  (world) => world.start(disk, guard('k15', { epoch: 2 })),
  (world) => world.destroy(disk, { key: 'sweep', signal: never }),
]
