// The page of a catalogue in Markdown: for each lifecycle its statuses, its picture, and all that it declares in words.
import {
  declarationOf,
  healOf,
  type ConditionData,
  type Declaration,
  type RuleData,
} from '../../src/lifecycle/declaration.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { statusKinds } from '../../src/lifecycle/resource-type.ts'
import { conditionWords, driftWords, healWords, operationWords, timerWords } from '../../src/lifecycle/words.ts'
import type { Picture } from '../../src/drawing/picture.ts'
import { escapeText } from '../../src/drawing/svg.ts'

export interface Drawn {
  readonly lifecycle: AnyLifecycle
  readonly picture: Picture
}

export function pageOf(title: string, drawn: readonly Drawn[]): string {
  const links = drawn.map(({ picture: { type } }) => `[${type}](#${type.replaceAll('.', '').toLowerCase()})`)
  const sections = drawn.flatMap(({ lifecycle, picture }) => sectionOf(declarationOf(lifecycle), picture))
  return `${[
    `# ${title}`,
    'Written by `npm run draw` from the declarations; change those, not this page.',
    links.join(' · '),
    ...sections,
  ].join('\n\n')}\n`
}

function sectionOf(declaration: Declaration, picture: Picture): string[] {
  const { type, operations, rules, timers, drift } = declaration
  return [
    `## ${type}`,
    statusTable(declaration),
    pictureLines(picture),
    captionOf(picture),
    ...list('Operations', Object.entries(operations), ([name, operation]) => {
      const meaning = operation.meaning ? ` ${sentence(operation.meaning)}` : ''
      return [`**${plain(name)}**.${meaning}`, ...operationWords(name, operation).map((line) => `  - ${plain(line)}`)]
    }),
    ...list('Healing', healedStatuses(declaration), (status) => [`\`${status}\`: ${healingOf(declaration, status)}`]),
    ...list('Rules', Object.entries(rules), ([name, rule]) => [
      `**${plain(name)}**: ${sentence(rule.says)}`,
      ...ruleLines(rule),
    ]),
    ...list('Timers', Object.entries(timers), ([name, timer]) => [sentence(timerWords(name, timer))]),
    ...list('Drift', Object.entries(drift), ([status, row]) => [`\`${status}\`: ${sentence(driftWords(row))}`]),
  ]
}

function list<Item>(heading: string, items: readonly Item[], linesOf: (item: Item) => readonly string[]): string[] {
  if (items.length === 0) return []
  return [`### ${heading}`, items.map((item) => `- ${linesOf(item).join('\n')}`).join('\n')]
}

function statusTable({ resource }: Declaration): string {
  const rows = statusKinds.flatMap((kind) =>
    Object.entries(resource.statuses[kind] ?? {}).map(
      ([status, meaning]) => `| \`${status}\` | ${kind} | ${sentence(meaning)} |`,
    ),
  )
  return ['| status | kind | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

export const pictureFile = (type: string, theme: string): string => `${type}-${theme}.svg`

function pictureLines({ type }: Picture): string {
  return [
    '<picture>',
    `  <source media="(prefers-color-scheme: dark)" srcset="${pictureFile(type, 'dark')}">`,
    `  <img src="${pictureFile(type, 'light')}" width="900" alt="${escapeText(`The statuses of ${type} and the ways between them`)}">`,
    '</picture>',
  ].join('\n')
}

/** What the picture leaves to the words below it. */
function captionOf({ isBig, hasNotes }: Picture): string {
  const left = isBig
    ? 'The ways of healing and of drift are left out of the picture; they stand in words below.'
    : 'A way that both an operation and healing can take is drawn once, as that of the operation.'
  const folded = 'Ways that many statuses share are written in the box that they lead to, or come from.'
  return `*${hasNotes ? `${left} ${folded}` : left}*`
}

/** Every transitional status, also one of which nothing is said, and whatever else is healed. */
function healedStatuses({ resource, heal }: Declaration): string[] {
  return [...new Set([...Object.keys(resource.statuses.transitional ?? {}), ...Object.keys(heal)])]
}

function healingOf({ heal }: Declaration, status: string): string {
  const row = healOf(heal, status)
  return row ? sentence(healWords(row)) : 'nothing is said of it here; it is healed with what moves it.'
}

function ruleLines({ holds }: RuleData): string[] {
  return Object.entries(holds).map(([status, conditions]) => {
    const any = (Array.isArray(conditions) ? conditions : [conditions]) as readonly ConditionData[]
    return `  - while \`${status}\`: ${sentence(any.map(conditionWords).join('; or '))}`
  })
}

const plain = (text: string): string =>
  text
    .replace(/[\\*<>|]/g, (sign) => (sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : `\\${sign}`))
    .replaceAll('\n', ' ')

const sentence = (text: string): string => plain(/[.!?]$/.test(text) ? text : `${text}.`)
