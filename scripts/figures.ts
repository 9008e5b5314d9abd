// Keeps docs/figures.md: measured figures by section. A program that measures replaces its own section and leaves the others.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const file = join(root, 'docs', 'figures.md')
const head = `# Figures

Measured on the machine that ran the command. Absolute figures move with the machine and the day; ratios of one run count.
`

/** Stands before what people have written in a section: that stays. */
const byHand = '<!-- by hand -->'

/** Puts `lines` under the heading `sectionTitle`, in place of what a program wrote there before; a new section goes to the end. */
export function writeFigures(sectionTitle: string, lines: readonly string[]): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const whole = text.startsWith('# ') ? text : head + text
  const [top, ...sections] = whole.split(/^(?=## )/m)
  const section = `## ${sectionTitle}\n\n${lines.join('\n')}\n`
  const at = sections.findIndex((one) => one.startsWith(`## ${sectionTitle}\n`))
  if (at < 0) sections.push(section)
  else {
    const notesAt = sections[at]!.indexOf(byHand)
    sections[at] = notesAt < 0 ? section : `${section}\n${sections[at]!.slice(notesAt)}`
  }
  writeFileSync(file, [top!.trimEnd() + '\n', ...sections.map((one) => one.trimEnd() + '\n')].join('\n'))
}

/** Date, commit and command: what a figure is worth without them is nothing. */
export function provenance(command: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const dirty = git('status', '--porcelain', '--untracked-files=no', 'src') === '' ? '' : ' and changes on top'
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  return `${date} UTC, commit ${git('rev-parse', '--short', 'HEAD')}${dirty}, Node ${process.versions.node}, \`${command}\``
}
