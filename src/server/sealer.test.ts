// What is sealed is opened with its key, in its place, unaltered, and not otherwise.
import { expect, test } from 'vitest'
import { Sealer } from './sealer.ts'

const [old, young] = ['an-old-key-0123456789-0123456789-012', 'a-young-key-0123456789-0123456789-01']
const about = ['webhook', 'w-1', 'acme', 'secrets']

test('a sealed text is opened with its key and tells nothing without it', () => {
  const sealed = new Sealer([old]).seal('the secret', about)
  expect(sealed).not.toContain('secret')
  expect(new Sealer([old]).seal('the secret', about)).not.toBe(sealed)
  expect(new Sealer([old]).open(sealed, about)).toBe('the secret')
  expect(new Sealer([young]).open(sealed, about)).toBe(null)
  expect(new Sealer([]).open(sealed, about)).toBe(null)
})

test('moved to another place, altered or cut short it is refused', () => {
  const sealer = new Sealer([old])
  const sealed = sealer.seal('the secret', about)
  expect(sealer.open(sealed, ['webhook', 'w-2', 'acme', 'secrets'])).toBe(null)
  expect(sealer.open(sealed, ['webhook', 'w-1', 'other', 'secrets'])).toBe(null)
  const at = sealed.lastIndexOf(':') + 1
  for (let i = at; i < sealed.length; i++) {
    const altered = `${sealed.slice(0, i)}${sealed[i] === 'A' ? 'B' : 'A'}${sealed.slice(i + 1)}`
    // The last characters of the text may stand for the same bytes.
    if (Buffer.from(altered.slice(at), 'base64url').equals(Buffer.from(sealed.slice(at), 'base64url'))) continue
    expect(sealer.open(altered, about), altered).toBe(null)
  }
  for (const cut of [sealed.slice(0, at), sealed.slice(0, at + 20), 'sealed:1:', 'sealed:2:x:y'])
    expect(sealer.open(cut, about)).toBe(null)
})

test('a new key seals, the one before it still opens, and what is to be sealed anew is told', () => {
  const before = new Sealer([old]).seal('the secret', about)
  const both = new Sealer([young, old])
  expect([both.open(before, about), both.isCurrent(before)]).toEqual(['the secret', false])
  const anew = both.seal('the secret', about)
  expect([new Sealer([young]).open(anew, about), both.isCurrent(anew)]).toEqual(['the secret', true])
  // What was kept before there were keys.
  expect([both.open('plain', about), both.isCurrent('plain')]).toEqual(['plain', false])
})

test('without a key nothing is sealed, and a short one is refused', () => {
  expect(() => new Sealer([]).seal('x', about)).toThrow(expect.objectContaining({ code: 'secret_key_missing' }))
  expect(() => new Sealer(['short'])).toThrow(expect.objectContaining({ code: 'listen_refused' }))
})
