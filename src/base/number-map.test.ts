// The map of numbers does what a Map does, whatever the order of changes.
import { expect, test } from 'vitest'
import { seededRandom } from './random.ts'
import { NumberMap } from './number-map.ts'

/** Numbers that collide: alike in the lower half, or next to each other. */
const keys = [0, 1, 7, 2 ** 20 - 1].flatMap((high) =>
  [1, 2, 3, 64, 128, 129, 2 ** 32 - 1].map((low) => high * 2 ** 32 + low),
)

test.each([1, 2, 3, 4])('every look-up answers as a Map would, seed %i', (seed) => {
  const random = seededRandom(seed)
  const model = new Map<number, string>()
  const map = new NumberMap<string>()
  for (let round = 0; round < 20_000; round++) {
    const key = random.below(3) === 0 ? keys[random.below(keys.length)]! : 1 + random.below(300)
    if (random.below(2) === 0) {
      map.set(key, `${round}`)
      model.set(key, `${round}`)
    } else expect(map.delete(key)).toBe(model.delete(key))
    // Often, so that it is small, or seldom.
    if (random.below(seed % 2 === 0 ? 6 : 2_000) === 0) {
      map.clear()
      model.clear()
    }
    const asked = keys[random.below(keys.length)]!
    expect(map.get(asked)).toBe(model.get(asked))
    expect(map.size).toBe(model.size)
  }
  expect(map.values().sort()).toEqual([...model.values()].sort())
  map.clear()
  expect([map.size, map.values(), map.get(1)]).toEqual([0, [], undefined])
})
