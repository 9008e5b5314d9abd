// No action of the console is without a test: every row of the contract that the console can ask to change something is proven done by a
// test (`visitor.hasMade`, which fails unless the page asked for it and the server did it), and every word on a button is used by one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { routeNames, routeOf } from '../../src/protocol/routes.ts'

const read = (folder: string, ending: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

const sources = read('src/console', /(?<!\.test)\.tsx?$/)
/** The visitor signs in by himself. */
const tests = read('test/console', /(?<!coverage)\.test\.ts$|^visitor\.ts$/)

/** Where the tag that begins at `from` ends: its attributes may hold arrows and other tags. */
function endOfTag(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}') depth--
    else if (text[at] === '>' && depth === 0) return at
  }
  return text.length
}

/** The words that a label is made of, without what is only known when it is shown. */
function wordsOf(label: string): string[] {
  const named = [...label.matchAll(/'([^']{2,})'/g)].map(([, words]) => words!)
  const plain = label
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const literal = plain.split('{')[0]!.trim()
  return literal.length > 1 ? [literal] : named
}

interface Button {
  readonly file: string
  readonly words: string
}

function buttonsOf({ name, text }: { readonly name: string; readonly text: string }): Button[] {
  return [...text.matchAll(/<(button|ActButton|AskButton|Copy)\b/g)].flatMap(({ index, 1: element }) => {
    const end = endOfTag(text, index)
    const tag = text.slice(index, end)
    const given = /(?:aria-label|label)=(?:"([^"]*)"|\{`([^`$]*)|\{([^}]*)\})/.exec(tag)
    const label = given?.slice(1).find((one) => one !== undefined)
    const content = element === 'Copy' ? '' : text.slice(end + 1, text.indexOf(`</${element}>`, end))
    return wordsOf(label ?? content).map((words) => ({ file: name, words }))
  })
}

test('buttons are found by their words, also where the words depend on something', () => {
  const text = `<button type="button" onClick={() => a > b && go({ x: 1 })}>Do it ...</button>
    <button aria-label={\`Forget \${name}\`} /></button> <Copy text={x} label="curl" />
    <button disabled={a > 1}>{isPaused ? 'Resume' : 'Pause'}</button>
    <ActButton act={{ words: <p>Gone.</p>, given: () => ({}) }}>Delete ...</ActButton>`
  expect(buttonsOf({ name: 'x', text }).map(({ words }) => words)).toEqual([
    'Do it ...',
    'Forget',
    'curl',
    'Resume',
    'Pause',
    'Delete ...',
  ])
})

test('every word on a button is used by a test', () => {
  const buttons = sources.flatMap(buttonsOf)
  expect(buttons.length).toBeGreaterThan(50)
  const all = tests.map(({ text }) => text).join('\n')
  const isUsed = ({ words }: Button) =>
    [`'${words}`, `"${words}`, `/${words}`, `/^${words}`].some((one) => all.includes(one))
  expect(buttons.filter((one) => !isUsed(one))).toEqual([])
})

test('every change that the console can ask for is made by a test, and seen to be done', () => {
  const text = sources.map((one) => one.text).join('\n')
  const changes = routeNames.filter((name) => routeOf(name).method !== 'GET' && text.includes(`'${name}'`))
  expect(changes.length).toBeGreaterThan(30)
  const made = new Set(
    tests.flatMap((one) =>
      [...one.text.matchAll(/\.hasMade\(([^)]*)\)/g)].flatMap(([, rows]) =>
        [...rows!.matchAll(/'(\w+)'/g)].map(([, row]) => row!),
      ),
    ),
  )
  expect(changes.filter((name) => !made.has(name))).toEqual([])
})
