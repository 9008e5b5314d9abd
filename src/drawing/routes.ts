// Ways of arrows between placed boxes: smooth, through the gaps of the rows between, with a free place for each label.
import { noteSize, pageWidth, type Layout, type Place } from './layout.ts'
import type { Arrow } from './picture.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Route {
  readonly arrow: Arrow
  readonly path: string
  readonly label: { readonly text: string; readonly at: Point } | undefined
}

interface Rectangle {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

interface Ends {
  readonly arrow: Arrow
  readonly from: Place
  readonly to: Place
}

type Curve = readonly [Point, Point, Point, Point]

export function routesOf(arrows: readonly Arrow[], layout: Layout): readonly Route[] {
  const ends = arrows.flatMap((arrow): Ends[] => {
    const [from, to] = [layout.places.get(arrow.from), layout.places.get(arrow.to)]
    return from && to ? [{ arrow, from, to }] : []
  })
  const ports = portsOf(ends)
  const lanes = new Map<string, number>()
  const taken: Rectangle[] = [...layout.places.values()].map(({ x, y, width, height }) => ({
    left: x - width / 2 - 2,
    right: x + width / 2 + 2,
    top: y - 2,
    bottom: y + height + 2,
  }))
  const curved = ends.map((one) => ({ arrow: one.arrow, curves: curvesOf(one, ports, layout, lanes) }))
  return curved.map(({ arrow, curves }) => ({ arrow, path: pathOf(curves), label: labelOf(arrow, curves, taken) }))
}

/** On which side an arrow leaves and arrives: within a row both below. */
const leavesBelow = ({ from, to }: Ends) => to.row >= from.row
const arrivesBelow = ({ from, to }: Ends) => to.row <= from.row

interface Ports {
  readonly start: ReadonlyMap<Ends, Point>
  readonly end: ReadonlyMap<Ends, Point>
}

/** Spreads the ends on each side of a box by where the other ends lie. */
function portsOf(all: readonly Ends[]): Ports {
  const sides = new Map<string, { place: Place; below: boolean; one: Ends; isStart: boolean; other: number }[]>()
  for (const one of all) {
    for (const isStart of [true, false]) {
      const place = isStart ? one.from : one.to
      const below = isStart ? leavesBelow(one) : arrivesBelow(one)
      const key = JSON.stringify([place.name, below])
      sides.set(key, [
        ...(sides.get(key) ?? []),
        { place, below, one, isStart, other: (isStart ? one.to : one.from).x },
      ])
    }
  }
  const start = new Map<Ends, Point>()
  const end = new Map<Ends, Point>()
  for (const side of sides.values()) {
    side.sort((a, b) => a.other - b.other)
    for (const [index, { place, below, one, isStart }] of side.entries()) {
      const room = place.width - 16
      const step = Math.min(room / side.length, 30)
      const x = place.box ? place.x + (index - (side.length - 1) / 2) * step : place.x
      const point = { x, y: below ? place.y + place.height : place.y }
      if (isStart) start.set(one, point)
      else end.set(one, point)
    }
  }
  return { start, end }
}

function curvesOf(one: Ends, ports: Ports, layout: Layout, lanes: Map<string, number>): readonly Curve[] {
  const start = ports.start.get(one) ?? one.from
  const end = ports.end.get(one) ?? one.to
  const { from, to } = one
  if (from.row === to.row) {
    const deep = Math.max(from.y + from.height, to.y + to.height) + 26 + Math.min(26, Math.abs(start.x - end.x) / 12)
    return [[start, { x: start.x, y: deep }, { x: end.x, y: deep }, end]]
  }
  const way = to.row > from.row ? 1 : -1
  const points: Point[] = [start]
  for (let row = from.row + way; row !== to.row; row += way) {
    const places = layout.rows[row] ?? []
    const [first] = places
    if (!first) continue
    const before = points.at(-1) ?? start
    const part = 1 / (Math.abs(to.row - row) + 1)
    const x = gapNear(places, before.x + (end.x - before.x) * part * 0.7, row, lanes)
    const bottom = first.y + Math.max(...places.map(({ height }) => height))
    const [near, far] = way > 0 ? [first.y, bottom] : [bottom, first.y]
    points.push({ x, y: near }, { x, y: far })
  }
  points.push(end)
  const curves: Curve[] = []
  for (const [index, point] of points.slice(0, -1).entries()) {
    const next = points[index + 1] ?? end
    const bend = (next.y - point.y) * 0.5
    curves.push([point, { x: point.x, y: point.y + bend }, { x: next.x, y: next.y - bend }, next])
  }
  return curves
}

/** The free x of a row nearest to the wanted one; arrows through one gap lie side by side. */
function gapNear(places: readonly Place[], wanted: number, row: number, lanes: Map<string, number>): number {
  const sides = places.toSorted((one, other) => one.x - other.x)
  const edges = [0, ...sides.flatMap(({ x, width }) => [x - width / 2, x + width / 2]), pageWidth]
  let best = { x: wanted, cost: Infinity, key: '' }
  for (let index = 0; index < edges.length; index += 2) {
    const [left, right] = [(edges[index] ?? 0) + 8, (edges[index + 1] ?? pageWidth) - 8]
    if (right < left) continue
    const key = `${row}:${index}`
    const used = lanes.get(key) ?? 0
    const spread = (used % 2 === 0 ? 1 : -1) * Math.ceil(used / 2) * 6
    const x = Math.min(right, Math.max(left, Math.min(right, Math.max(left, wanted)) + spread))
    const cost = Math.abs(x - wanted) + used * 6
    if (cost < best.cost) best = { x, cost, key }
  }
  lanes.set(best.key, (lanes.get(best.key) ?? 0) + 1)
  return best.x
}

const number = (value: number) => String(Math.round(value * 10) / 10)
const pointText = ({ x, y }: Point) => `${number(x)} ${number(y)}`

function pathOf(curves: readonly Curve[]): string {
  const [first] = curves
  if (!first) return ''
  return `M${pointText(first[0])} ${curves.map(([, b, c, d]) => `C${[b, c, d].map(pointText).join(' ')}`).join(' ')}`
}

function pointAt([a, b, c, d]: Curve, t: number): Point {
  const s = 1 - t
  const mix = (p: number, q: number, r: number, v: number) =>
    s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * v
  return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) }
}

/** The first free place along the way; without one the label stays in the title of the arrow. */
function labelOf({ labels }: Arrow, curves: readonly Curve[], taken: Rectangle[]): Route['label'] {
  const shown = labels.length > 2 ? [...labels.slice(0, 2), `+${labels.length - 2}`] : labels
  const text = shown.join(', ')
  const half = (text.length * noteSize * 0.54) / 2 + 2
  for (const t of [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8]) {
    for (const curve of curves) {
      const at = pointAt(curve, t)
      const area = { left: at.x - half, right: at.x + half, top: at.y - 7, bottom: at.y + 7 }
      if (area.left < 2 || area.right > pageWidth - 2) continue
      if (taken.some((one) => overlaps(one, area))) continue
      taken.push(area)
      return { text, at }
    }
  }
  return undefined
}

const overlaps = (one: Rectangle, other: Rectangle): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
