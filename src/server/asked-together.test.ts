// One question for many: who shares an answer, and who must not.
import { expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { AskedTogether } from './asked-together.ts'

function asking() {
  const sent: { readonly key: string; answer(value: number): void; fail(error: Error): void }[] = []
  const together = new AskedTogether<number>(
    systemClock,
    (key) => new Promise((answer, fail) => sent.push({ key, answer, fail })),
  )
  return { together, sent }
}

test('those who ask before the question is sent have one answer; another key has its own', async () => {
  const { together, sent } = asking()
  const asked = [together.get('a'), together.get('a'), together.get('b')]
  await expect.poll(() => sent.map(({ key }) => key)).toEqual(['a', 'b'])
  sent[0]!.answer(1)
  sent[1]!.answer(2)
  expect(await Promise.all(asked)).toEqual([1, 1, 2])
})

test('who asks while the question is under way has no part in its answer: it may be older than his question', async () => {
  const { together, sent } = asking()
  const first = together.get('a')
  await expect.poll(() => sent.length).toBe(1)
  const second = together.get('a')
  const third = together.get('a')
  sent[0]!.answer(1)
  expect(await first).toBe(1)
  await expect.poll(() => sent.length).toBe(2)
  sent[1]!.answer(2)
  expect(await Promise.all([second, third])).toEqual([2, 2])
})

test('a failure is told to those who shared it, and the next asks anew', async () => {
  const { together, sent } = asking()
  const first = together.get('a')
  await expect.poll(() => sent.length).toBe(1)
  const second = together.get('a')
  sent[0]!.fail(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await expect.poll(() => sent.length).toBe(2)
  sent[1]!.answer(2)
  expect(await second).toBe(2)
})
