// W3 and W1 under kill -9: the story is killed at every one of its steps, and finished by somebody else.
import { picture, story } from './conformance-story.ts'
import type { WorldSuite } from './world-conformance.ts'

/** So many stories are under way at once. */
const atOnce = 4

export function killPromise({ test, expect, create }: WorldSuite): void {
  test('W3 the story ends as it should', async (under) => {
    const world = await under.open()
    for (const call of story) await call(world)
    expect(await picture(world)).toEqual(ending)
  })

  test('W3 killed at any step, the world is readable and the same keys finish the work once', async (first) => {
    if (first.killAt === undefined) return
    let steps = 0
    let isOver = false
    const killedAt = async (step: number) => {
      const under = await create()
      try {
        const finished = await under.killAt!(step)
        if (finished === null) return void (isOver = true)
        steps++
        const world = await under.open()
        const seen = await world.truth()
        expect(seen.filter(({ kind }) => kind === 'process')).toEqual([])
        expect((await world.list()).map(({ name }) => name)).toEqual(seen.map(({ name }) => name))
        for (const call of story.slice(finished)) {
          const once = await call(world)
          // What takes away answers nothing; everything else answers the same again.
          expect(await call(world)).toEqual(once)
        }
        expect(await picture(world)).toEqual(ending)
      } finally {
        await under.remove()
      }
    }
    for (let step = 1; !isOver; step += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, offset) => killedAt(step + offset)))
    expect(steps > 5 * story.length).toEqual(true)
  })
}

const ending = [
  {
    kind: 'clone',
    name: 'lab.box/b1/clone/1',
    resource: 'lab.box/b1',
    properties: {},
    sizeBytes: 9_000_000,
    content: 'lab.box/b1/clone/1',
    power: 'stopped',
    links: [],
  },
  {
    kind: 'machine',
    name: 'lab.box/b1/machine/1',
    resource: 'lab.box/b1',
    properties: { memory: 2 },
    sizeBytes: null,
    content: null,
    power: 'running',
    links: [],
  },
]
