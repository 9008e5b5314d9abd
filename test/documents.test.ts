// The documents in docs/catalogues are those that the declarations give, and leave out no status.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { catalogues, documents } from '../scripts/draw/documents.ts'
import { pictureFile } from '../scripts/draw/page.ts'
import { escapeText, themes } from '../src/drawing/svg.ts'
import { languageWords } from '../src/lifecycle/check-words.ts'
import { kindsOf, type ResourceType } from '../src/lifecycle/resource-type.ts'

const folder = join(resolve(import.meta.dirname, '..'), 'docs', 'catalogues')
const made = documents()

test('docs/catalogues is what the declarations give', () => {
  const committed = existsSync(folder) ? readdirSync(folder) : []
  expect(committed.toSorted(), 'run npm run draw').toEqual([...made.keys()].toSorted())
  for (const [name, text] of made) {
    expect(readFileSync(join(folder, name), 'utf8') === text, `${name} is out of date: run npm run draw`).toBe(true)
  }
})

test('docs/lifecycles.md tells every word of the language', () => {
  const page = readFileSync(resolve(folder, '..', 'lifecycles.md'), 'utf8')
  const told = new Set([...page.matchAll(/`[^`\n]+`/g)].flatMap(([code]) => code.match(/[A-Za-z]+/g) ?? []))
  expect(languageWords.filter((word) => !told.has(word))).toEqual([])
})

test('documents are the same each time they are made', () => {
  expect(documents()).toEqual(made)
})

test.each(catalogues)('every status of $name occurs in its page and in its pictures', ({ name, lifecycles }) => {
  expect(lifecycles.length).toBeGreaterThan(0)
  const sections = (made.get(`${name}.md`) ?? '').split(/^## /m)
  for (const { resource } of lifecycles) {
    const { type } = resource as ResourceType
    const section = sections.find((one) => one.startsWith(`${type}\n`))
    for (const [status, kind] of kindsOf(resource as ResourceType)) {
      expect(section, `${type} on its page`).toContain(`| \`${status}\` | ${kind} |`)
      if (kind === 'transitional') expect(section, `healing of ${type}`).toContain(`- \`${status}\`: `)
      for (const theme of themes) {
        expect(made.get(pictureFile(type, theme)), `${type}, ${theme}`).toContain(`>${escapeText(status)}</text>`)
      }
    }
  }
})

test('no picture has text that reaches over its edge, or boxes over each other', () => {
  for (const [name, svg] of made) {
    if (!name.endsWith('.svg')) continue
    const boxes = [...svg.matchAll(/<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"/g)].map(
      (found) => {
        const [x = 0, y = 0, width = 0, height = 0] = found.slice(1).map(Number)
        return { left: x, right: x + width, top: y, bottom: y + height }
      },
    )
    for (const [index, one] of boxes.entries()) {
      expect(one.left, name).toBeGreaterThanOrEqual(0)
      expect(one.right, name).toBeLessThanOrEqual(900)
      const over = boxes
        .slice(index + 1)
        .filter(
          (other) =>
            one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom,
        )
      expect(over, name).toEqual([])
    }
  }
})
