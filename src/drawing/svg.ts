// A picture as SVG text: self-contained, the same bytes every time, in light and in dark.
import { statusKinds, type StatusKind } from '../lifecycle/resource-type.ts'
import { layoutOf, nameSize, noteSize, pageWidth, type Place } from './layout.ts'
import type { ArrowStyle, Picture } from './picture.ts'
import { routesOf, type Route } from './routes.ts'

export const themes = ['light', 'dark'] as const
export type Theme = (typeof themes)[number]

interface Colours {
  readonly page: string
  readonly text: string
  readonly quiet: string
  readonly kinds: Readonly<Record<StatusKind, readonly [fill: string, line: string]>>
  readonly arrows: Readonly<Record<ArrowStyle, string>>
}

const colours: Readonly<Record<Theme, Colours>> = {
  light: {
    page: '#ffffff',
    text: '#1a202c',
    quiet: '#4a5568',
    kinds: {
      stable: ['#d9f2e3', '#2f855a'],
      transitional: ['#e2ecfb', '#2b6cb0'],
      failed: ['#fde2e1', '#c53030'],
      terminal: ['#e8ecf1', '#718096'],
    },
    arrows: { way: '#5a6b82', failure: '#d0605e', drift: '#b7791f', heal: '#2f855a' },
  },
  dark: {
    page: '#0d1117',
    text: '#e6edf3',
    quiet: '#a9b4c0',
    kinds: {
      stable: ['#12351f', '#3fb950'],
      transitional: ['#10284a', '#58a6ff'],
      failed: ['#4a1618', '#f85149'],
      terminal: ['#21262d', '#8b949e'],
    },
    arrows: { way: '#8b9bb0', failure: '#e5706b', drift: '#d29922', heal: '#3fb950' },
  },
}

const dashes: Readonly<Record<ArrowStyle, string>> = { way: '', failure: '', drift: '2 3', heal: '6 4' }
const styleWords: Readonly<Record<ArrowStyle, string>> = {
  way: 'operation',
  failure: 'failure',
  drift: 'found otherwise',
  heal: 'healing',
}
const styles = ['way', 'failure', 'drift', 'heal'] as const
const nameFont = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
const noteFont = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

export function svgOf(picture: Picture, theme: Theme): string {
  const palette = colours[theme]
  const layout = layoutOf(picture)
  const routes = routesOf(picture.arrows, layout)
  const used = styles.filter((style) => picture.arrows.some((arrow) => arrow.style === style))
  const height = Math.round(layout.height + 60)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pageWidth}" height="${height}" viewBox="0 0 ${pageWidth} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escapeText(`The statuses of ${picture.type} and the ways between them`)}</title>`,
    '<defs>',
    ...used.map(
      (style) =>
        `<marker id="${style}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.5L8 4L0 7.5Z" fill="${palette.arrows[style]}"/></marker>`,
    ),
    '</defs>',
    `<rect width="${pageWidth}" height="${height}" fill="${palette.page}"/>`,
    ...routes.map((route) => arrowLine(route, palette)),
    ...[...layout.places.values()].map((place) => boxLines(place, palette)),
    ...routes.flatMap((route) => labelLine(route, palette)),
    ...legendLines(picture, used, height - 28, palette),
    '</svg>',
  ].join('\n')}\n`
}

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const strokeOf = (style: ArrowStyle, palette: Colours): string =>
  `fill="none" stroke="${palette.arrows[style]}" stroke-width="1.3"${dashes[style] && ` stroke-dasharray="${dashes[style]}"`} marker-end="url(#${style})"`

function arrowLine({ arrow, path }: Route, palette: Colours): string {
  const words = `${arrow.from || 'created'} to ${arrow.to}: ${arrow.labels.join(', ')}`
  return `<path d="${path}" ${strokeOf(arrow.style, palette)}><title>${escapeText(words)}</title></path>`
}

const textAt = (x: number, y: number, size: number, font: string, fill: string, more = '') =>
  `<text x="${number(x)}" y="${number(y)}" font-family="${font}" font-size="${size}" fill="${fill}"${more}>`
const number = (value: number) => String(Math.round(value * 10) / 10)
const middle = ' text-anchor="middle"'

function boxLines({ box, x, y, width, height }: Place, palette: Colours): string {
  if (!box) return `<circle cx="${number(x)}" cy="${number(y + 7)}" r="7" fill="${palette.text}"/>`
  const name = textAt(x, y + 19.5, nameSize, nameFont, palette.text, `${middle} font-weight="600"`)
  return [
    boxShape(box.kind, x - width / 2, y, width, height, palette),
    `${name}${escapeText(box.name)}</text>`,
    ...box.notes.map(
      (note, index) =>
        `${textAt(x, y + 34 + index * 14, noteSize, noteFont, palette.quiet, middle)}${escapeText(note)}</text>`,
    ),
  ].join('\n')
}

function boxShape(kind: StatusKind, x: number, y: number, width: number, height: number, palette: Colours): string {
  const [fill, line] = palette.kinds[kind]
  const shape = `<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"`
  return `${shape} rx="${kind === 'transitional' ? 13 : 5}" fill="${fill}" stroke="${line}" stroke-width="1.4"/>`
}

/** With an edge in the colour of the page, so that arrows below do not strike it through. */
function labelLine({ arrow, label }: Route, palette: Colours): string[] {
  if (!label) return []
  const fill = arrow.style === 'way' ? palette.quiet : palette.arrows[arrow.style]
  const more = `${middle} stroke="${palette.page}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`
  return [`${textAt(label.at.x, label.at.y + 3.5, noteSize, noteFont, fill, more)}${escapeText(label.text)}</text>`]
}

function legendLines({ boxes }: Picture, used: readonly ArrowStyle[], y: number, palette: Colours): string[] {
  let x = 24
  const word = (text: string, at: number) => {
    x = at + text.length * 6 + 26
    return `${textAt(at, y + 3.5, noteSize, noteFont, palette.quiet)}${text}</text>`
  }
  const kinds = statusKinds.filter((kind) => boxes.some((box) => box.kind === kind))
  return [
    ...kinds.flatMap((kind) => [boxShape(kind, x, y - 7, 24, 14, palette), word(kind, x + 30)]),
    ...used.flatMap((style) => [
      `<path d="M${x} ${y}H${x + 30}" ${strokeOf(style, palette)}/>`,
      word(styleWords[style], x + 37),
    ]),
  ]
}
