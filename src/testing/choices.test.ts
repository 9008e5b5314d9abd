// Choices: the same from the same seed, and again from their list.
import { expect, test } from 'vitest'
import { Choices, countChoices } from './choices.ts'

const drawAll = (choices: Choices) => {
  const a = choices.stream('a')
  const b = choices.stream('b')
  return [a.below(10), b.below(10), a.chance(0.5), a.weighted([1, 2, 3]), b.weighted([5, 1]), a.below(1)]
}

test('a seed gives the same choices for ever, and the recorded list gives them again', () => {
  for (let seed = 0; seed < 100; seed++) {
    const first = new Choices(seed, { record: true })
    const drawn = drawAll(first)
    expect(drawAll(new Choices(seed))).toEqual(drawn)
    expect(drawAll(new Choices(999, { list: first.list() }))).toEqual(drawn)
  }
})

test('choices that are not in the list are quiet', () => {
  expect(drawAll(new Choices(1, { list: {} }))).toEqual([0, 0, false, 0, 0, 0])
  expect(countChoices({ a: { 0: 1, 4: 2 }, b: { 1: 1 } })).toBe(3)
})
