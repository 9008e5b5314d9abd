// A picture as figures: where its boxes and arrows are, for those who draw it themselves.
import { layoutOf, pageWidth } from './layout.ts'
import type { Picture } from './picture.ts'
import { routesOf } from './routes.ts'

export function placedOf(picture: Picture) {
  const layout = layoutOf(picture)
  return {
    width: pageWidth,
    height: Math.round(layout.height + 24),
    boxes: [...layout.places.values()].map(({ name, box, x, y, width, height }) => ({
      name,
      kind: box?.kind ?? null,
      notes: [...(box?.notes ?? [])],
      x: rounded(x),
      y: rounded(y),
      width: rounded(width),
      height: rounded(height),
    })),
    arrows: routesOf(picture.arrows, layout).map(({ arrow, path, label }) => ({
      from: arrow.from,
      to: arrow.to,
      labels: [...arrow.labels],
      style: arrow.style,
      path,
      label: label ? { text: label.text, x: rounded(label.at.x), y: rounded(label.at.y) } : null,
    })),
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10
