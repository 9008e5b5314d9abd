// All documents made from the declarations, by file name in docs/catalogues: a page per catalogue, two pictures per lifecycle.
import { blazar } from '../../catalogues/blazar/index.ts'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { pageOf, pictureFile } from './page.ts'
import { pictureOf } from '../../src/drawing/picture.ts'
import { svgOf, themes } from '../../src/drawing/svg.ts'

export interface Catalogue {
  readonly name: string
  readonly title: string
  readonly lifecycles: readonly AnyLifecycle[]
}

export const catalogues: readonly Catalogue[] = [
  { name: 'blazar', title: 'Blazar', lifecycles: Object.values(blazar) },
  { name: 'opensds', title: 'OpenSDS', lifecycles: Object.values(opensds) },
  { name: 'ovc', title: 'OpenvCloud', lifecycles: Object.values(ovc) },
  { name: 'sahara', title: 'Sahara', lifecycles: Object.values(sahara) },
]

export function documents(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const { name, title, lifecycles } of catalogues) {
    const drawn = lifecycles.map((lifecycle) => ({ lifecycle, picture: pictureOf(lifecycle, lifecycles) }))
    files.set(`${name}.md`, pageOf(`${title}: statuses, operations and healing`, drawn))
    for (const { picture } of drawn) {
      for (const theme of themes) files.set(pictureFile(picture.type, theme), svgOf(picture, theme))
    }
  }
  return files
}
