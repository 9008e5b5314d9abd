// One type's orphans never wait for another's.
import { expect, test } from 'vitest'
import { OrphansByType } from './orphans-by-type.ts'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test("a type whose backend hangs holds up its own orphans, and nobody else's", async () => {
  const begun: string[] = []
  const hanging: (() => void)[] = []
  const orphans = new OrphansByType<string>({
    sweep: (name) => {
      begun.push(name)
      return name.startsWith('slow') ? new Promise((resolve) => hanging.push(resolve)) : Promise.resolve()
    },
    onRoom: () => {},
  })
  for (let n = 0; n < 20; n++) orphans.offer('slow', `slow ${n}`, `slow ${n}`)
  for (let n = 0; n < 20; n++) orphans.offer('quick', `quick ${n}`, `quick ${n}`)
  orphans.offer('slow', 'slow 0', 'slow 0')
  await settle()
  expect(begun.filter((name) => name.startsWith('quick'))).toHaveLength(20)
  expect(begun.filter((name) => name.startsWith('slow'))).toHaveLength(8)
  hanging.shift()!()
  await settle()
  expect(begun.at(-1)).toBe('slow 8')

  let isStopped = false
  const stopping = orphans.stop().then(() => (isStopped = true))
  await settle()
  expect(isStopped).toBe(false)
  for (const end of hanging.splice(0)) end()
  await stopping
  expect(begun.filter((name) => name.startsWith('slow'))).toHaveLength(9)
})

test('more than it can take are asked for again when there is room', async () => {
  let room = 0
  const swept = new Set<string>()
  const orphans = new OrphansByType<string>({
    sweep: async (name) => {
      await settle()
      swept.add(name)
    },
    onRoom: () => room++,
  })
  const offerAll = () => {
    for (let n = 0; n < 500; n++) if (!swept.has(String(n))) orphans.offer('a', String(n), String(n))
  }
  offerAll()
  await expect.poll(() => room).toBe(1)
  offerAll()
  await expect.poll(() => room).toBe(2)
  offerAll()
  await expect.poll(() => swept.size).toBe(500)
  expect(room).toBe(2)
})
