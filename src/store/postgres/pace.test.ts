// Who shares a connection with whom, and when: on connections that are only told apart.
import { describe, expect, test } from 'vitest'
import { Pace } from './pace.ts'
import type { Wire } from './wire.ts'
import { Wires } from './wires.ts'

/** Connections that are told apart and nothing else. */
async function pool(): Promise<Wires> {
  const wires = new Wires(async () => ({ isOpen: true, close: async () => {} }) as unknown as Wire, 2)
  await wires.warm(2)
  return wires
}

/** Begins a piece of work; `end` ends it. */
function begin(using: (work: (wire: Wire) => Promise<void>) => Promise<void>) {
  let end!: () => void
  let began!: (wire: Wire) => void
  const over = new Promise<void>((resolve) => (end = resolve))
  const wire = new Promise<Wire>((resolve) => (began = resolve))
  const done = using((given) => {
    began(given)
    return over
  })
  return {
    wire,
    end: () => {
      end()
      return done
    },
  }
}

describe('a shared connection', () => {
  test('has two at most, and is free again when both are over', async () => {
    const wires = await pool()
    const share = () => begin((work) => wires.share(work))
    const first = share()
    const shared = await first.wire
    const second = share()
    expect(await second.wire).toBe(shared)
    const third = share()
    expect(await third.wire).not.toBe(shared)
    expect(wires.isBusy).toBe(true)
    await first.end()
    // One of two is left: there is room behind it.
    const fourth = share()
    expect(await fourth.wire).toBe(shared)
    await Promise.all([second.end(), third.end(), fourth.end()])
    expect(wires.isBusy).toBe(false)
  })

  test("is nobody's who needs one alone", async () => {
    const wires = await pool()
    const shared = begin((work) => wires.share(work))
    const alone = begin((work) => wires.use(work))
    expect(await alone.wire).not.toBe(await shared.wire)
    const behind = begin((work) => wires.share(work))
    expect(await behind.wire).toBe(await shared.wire)
    await Promise.all([shared.end(), alone.end(), behind.end()])
  })

  test('that is gone is not shared any longer', async () => {
    const wires = await pool()
    const first = begin((work) => wires.share(work))
    const gone = (await first.wire) as { isOpen: boolean }
    gone.isOpen = false
    const second = begin((work) => wires.share(work))
    expect(await second.wire).not.toBe(gone)
    await Promise.all([first.end(), second.end()])
  })
})

describe('the pace of commits', () => {
  const few = 1
  const many = 500

  function commits(pace: Pace, wires: Wires) {
    return (writes: number) => begin((work) => pace.with(wires, writes, work))
  }

  test('a commit is put behind another where a flush is short, and beside it where it is long', async () => {
    let now = 0
    const wires = await pool()
    const commit = commits(new Pace({ monotonic: () => now }), wires)
    const lone = async (writes: number, ms: number) => {
      const one = commit(writes)
      await one.wire
      now += ms
      await one.end()
    }
    const areTogether = async () => {
      const [one, other] = [commit(many), commit(many)]
      const is = (await one.wire) === (await other.wire)
      await Promise.all([one.end(), other.end()])
      return is
    }
    for (let i = 0; i < 7; i++) await lone(few, 9)
    expect(await areTogether()).toBe(true)
    await lone(few, 9)
    expect(await areTogether()).toBe(false)
    // What writes much takes its time for that.
    await lone(many, 1)
    expect(await areTogether()).toBe(false)
    // The quickest of the latest tells: others may have been held up.
    await lone(few, 1)
    for (let i = 0; i < 7; i++) await lone(few, 9)
    expect(await areTogether()).toBe(true)
    await lone(few, 9)
    expect(await areTogether()).toBe(false)
  })

  test('what waited for another tells nothing', async () => {
    let now = 0
    const wires = await pool()
    const commit = commits(new Pace({ monotonic: () => now }), wires)
    for (let i = 0; i < 8; i++) {
      const first = commit(many)
      const behind = commit(few)
      expect(await behind.wire).toBe(await first.wire)
      now += 50
      await Promise.all([first.end(), behind.end()])
    }
    const [one, other] = [commit(many), commit(many)]
    expect(await other.wire).toBe(await one.wire)
    await Promise.all([one.end(), other.end()])
  })
})
