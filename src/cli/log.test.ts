// What is logged, how often, and in which form.
import { expect, test } from 'vitest'
import { HomeostatError } from '../base/errors.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { logTo } from './log.ts'

function logging(isJson: boolean) {
  const lines: string[] = []
  const clock = new ManualClock(Date.UTC(2030, 0, 1))
  const reader = { isBehind: false }
  const isReaderBehind = () => reader.isBehind
  return { clock, lines, reader, log: logTo({ clock, isJson, isReaderBehind, note: (line) => lines.push(line) }) }
}
const away = () => new HomeostatError('store_unavailable', 'PostgreSQL does not answer.')

test('for programs each is a JSON object on a line of its own, with the time that people can read', () => {
  const { lines, log } = logging(true)
  log('warn', 'webhooks: a pass failed', { error: away(), more: 'two\nlines' })
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('\n')
  expect(JSON.parse(lines[0]!)).toEqual({
    at: '2030-01-01T00:00:00.000Z',
    level: 'warn',
    message: 'webhooks: a pass failed',
    error: 'store_unavailable: PostgreSQL does not answer.',
    more: 'two\nlines',
  })
})

test('what is said every second while a store is away is said once a minute, with how often', async () => {
  const { clock, lines, log } = logging(true)
  for (let second = 0; second < 121; second++) {
    log('warn', 'bulk: a pass failed', { error: away() })
    log('error', 'a request met a defect', { error: 'x', request: `r-${second}` })
    await clock.advance(1_000)
  }
  const told = lines.map((line) => JSON.parse(line) as { message: string; alsoSaid?: number })
  expect(told.map(({ message, alsoSaid }) => [message, alsoSaid])).toEqual(
    [undefined, 59, 59].flatMap((times) => [
      ['bulk: a pass failed', times],
      ['a request met a defect', times],
    ]),
  )
  log('warn', 'bulk: a pass failed', { error: 'something else' })
  expect(lines).toHaveLength(7)
})

test('on a terminal only what is not well is said, in words', () => {
  const { lines, log } = logging(false)
  log('info', 'healed', { healed: 3 })
  log('warn', 'a worker is gone', { name: 'work' })
  expect(lines).toEqual(['warning: a worker is gone name="work"'])
})

test('whatever a driver threw is a line, and a bounded one', () => {
  const { lines, log } = logging(true)
  const ring: Record<string, unknown> = {}
  ring['ring'] = ring
  const mute = Object.defineProperty(new Error('x'), 'stack', {
    get() {
      throw new Error('hands off')
    },
  })
  for (const error of [ring, 12n, Symbol('odd'), () => {}, mute, new Error('x'.repeat(1_000_000)), undefined])
    log('warn', 'the inventory could not be read', { error })
  const errors = lines.map((line) => (JSON.parse(line) as { error?: string }).error)
  expect(errors.slice(0, 3)).toEqual(['<ref *1> { ring: [Circular *1] }', '12n', 'Symbol(odd)'])
  expect(errors.slice(3, 6).map((error) => typeof error)).toEqual(['string', 'string', 'string'])
  expect(errors[5]!.length).toBeLessThan(21_000)
  expect(errors[6]).toBeUndefined()
})

test('while nobody reads, lines are left out and counted; whoever reads again is told', () => {
  const { lines, log, reader } = logging(true)
  reader.isBehind = true
  for (let line = 0; line < 5; line++) log('warn', `line ${line}`)
  expect(lines).toEqual([])
  reader.isBehind = false
  log('warn', 'line 5')
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { message: 'nobody read the log for a while; lines were left out', lines: 5 },
    { message: 'line 5' },
  ])
})
