// The table of databases: what the record says, beside what is really on disk.
import type { Resource } from '../../src/decision/state.ts'
import { paint } from './telling.ts'
import { sizeGbOf } from './world.ts'

const barLength = 12

export interface BoardContext {
  readonly folder: string
  /** Workers by their number in the store; null: gone. */
  readonly pids: ReadonlyMap<number, number | null>
}

export function boardLines(resources: readonly Resource[], context: BoardContext): string[] {
  const head = `  ${'database'.padEnd(10)} ${'record says'.padEnd(12)} ${'really on disk'.padEnd(barLength + 9)} who is at it`
  return [paint('dim', head), ...resources.map((one) => rowOf(one, context)), `  ${countsOf(resources)}`]
}

function rowOf(resource: Resource, context: BoardContext): string {
  const { id, status } = resource
  return `  ${id.padEnd(10)} ${statusText(status, 12)} ${diskText(resource, context)} ${ownerText(resource, context)}`
}

function statusText(status: string, length = 0): string {
  const text = status.padEnd(length)
  if (status === 'Ready') return paint('green', text)
  if (status === 'Broken') return paint('red', text)
  if (status === 'Gone') return paint('dim', text)
  return paint('yellow', text)
}

function diskText({ ledger, properties, run }: Resource, { folder }: BoardContext): string {
  const name = ledger[0]?.name
  const size = name === undefined ? null : sizeGbOf(folder, name)
  if (size === null) return paint('dim', 'no disk'.padEnd(barLength + 9))
  const input = run?.input as { readonly sizeGb?: number } | null | undefined
  const wanted = input?.sizeGb ?? Number(properties['sizeGb'])
  const full = Math.max(0, Math.min(barLength, Math.round((size / wanted) * barLength)))
  const bar = paint('blue', '█'.repeat(full)) + paint('dim', '░'.repeat(barLength - full))
  return `${bar} ${`${size}/${wanted} GB`.padEnd(8)}`
}

function ownerText({ run }: Resource, { pids }: BoardContext): string {
  if (run === null) return ''
  const what = `${run.kind === 'heal' ? 'healing' : run.operation}`
  if (run.owner === 0) return paint('dim', `${what}, waits for a worker`)
  const pid = pids.get(run.owner)
  if (pid == null) return paint('red', `${what}, but worker ${run.owner} is dead: stuck`)
  return paint('dim', `${what}, worker ${run.owner} (process ${pid})`)
}

export function countsOf(resources: readonly Resource[]): string {
  const counts = Map.groupBy(resources, ({ status }) => status)
  const order = ['Ready', 'Creating', 'Growing', 'Deleting', 'Broken', 'Gone']
  return order
    .filter((status) => counts.has(status))
    .map((status) => `${counts.get(status)!.length} ${statusText(status)}`)
    .join(paint('dim', ' · '))
}
