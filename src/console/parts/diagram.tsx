// A lifecycle as a live picture: places come from the server, figures and the walked path are drawn here.
import { useEffect, useRef, useState } from 'react'
import type { Diagram as Placed } from '../api.ts'
import { spanPassed } from '../time.ts'
import { Scroll } from './bits.tsx'

export interface DiagramProps {
  readonly placed: Placed
  readonly label: string
  /** Resources by status. */
  readonly counts?: Readonly<Record<string, number>>
  /** How long the oldest has been there, by status, in milliseconds. */
  readonly ages?: Readonly<Record<string, number>>
  readonly stuck?: Readonly<Record<string, number>>
  /** More than those may be stuck. */
  readonly isPart?: boolean
  readonly current?: string
  /** Statuses in the order they were entered. */
  readonly walked?: readonly string[]
  /** Where a status leads when it is chosen. */
  readonly href?: (status: string) => string
  readonly onPick?: (status: string) => void
  /** Large enough to be read, or as wide as its frame; else between the two. */
  readonly size?: 'close' | 'fitted'
}

/** Of one resource: so large that it can be read, around where it stands. It is moved by its bars, by arrow keys, or pulled. */
export function DiagramOfOne(props: DiagramProps) {
  const [size, setSize] = useState<'close' | 'fitted'>('close')
  return (
    <div
      className="of-one-frame"
      onPointerMove={({ pointerType, buttons, movementX, movementY, currentTarget }) => {
        if (pointerType === 'mouse' && buttons === 1)
          currentTarget.querySelector('.scroll')?.scrollBy(-movementX, -movementY)
      }}
    >
      <button type="button" className="small" onClick={() => setSize(size === 'close' ? 'fitted' : 'close')}>
        {size === 'close' ? 'Fit the width' : 'Closer'}
      </button>
      <Scroll tall label="Diagram">
        <Diagram {...props} size={size} />
      </Scroll>
    </div>
  )
}

const styles = ['way', 'failure', 'drift', 'heal'] as const

export function Diagram(props: DiagramProps) {
  const { placed, label, current, walked = [], size } = props
  const pairs = new Set(walked.slice(1).map((to, index) => `${walked[index]}>${to}`))
  const isWalked = (from: string, to: string) => pairs.has(`${from}>${to}`)
  const svg = useRef<SVGSVGElement>(null)
  // Where it is larger than its frame, what matters is in sight: where the resource stands, else the middle.
  useEffect(() => {
    const frame = svg.current?.parentElement
    if (frame == null) return
    const scale = frame.scrollWidth / placed.width
    const at = placed.boxes.find(({ name }) => name === current)
    frame.scrollLeft = (at?.x ?? placed.width / 2) * scale - frame.clientWidth / 2
    if (at !== undefined) frame.scrollTop = at.y * scale - frame.clientHeight / 2
  }, [placed, current, size])
  return (
    <svg
      ref={svg}
      className={`diagram ${size ?? ''} ${current === undefined ? '' : 'of-one'}`}
      viewBox={`0 0 ${placed.width} ${placed.height}`}
      role="group"
      aria-label={label}
    >
      <defs>
        {[...styles, 'walked'].map((style) => (
          <marker
            key={style}
            id={`end-${style}`}
            viewBox="0 0 8 8"
            refX="7.5"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0.5L8 4L0 7.5Z" className={`head ${style}`} />
          </marker>
        ))}
      </defs>
      {placed.arrows.map(({ from, to, style, path, labels }, index) => {
        const walkedHere = isWalked(from, to)
        return (
          <path
            key={index}
            d={path}
            className={`arrow ${style} ${walkedHere ? 'walked' : from === current ? 'ahead' : ''}`}
            markerEnd={`url(#end-${walkedHere ? 'walked' : style})`}
          >
            <title>{`${from || 'created'} to ${to}: ${labels.join(', ')}`}</title>
          </path>
        )
      })}
      {placed.arrows.map(({ from, to, style, label: text }, index) =>
        text === null ? null : (
          <text
            key={index}
            x={text.x}
            y={text.y + 3.5}
            className={`word ${style} ${from === current || isWalked(from, to) ? 'near' : ''}`}
          >
            {text.text}
          </text>
        ),
      )}
      {placed.boxes.map((box) => (
        <Box key={box.name} box={box} props={props} />
      ))}
    </svg>
  )
}

function Box({ box, props }: { readonly box: Placed['boxes'][number]; readonly props: DiagramProps }) {
  const { name, kind, notes, x, y, width, height } = box
  const { counts, ages, stuck, isPart = false, current, walked = [], href, onPick } = props
  if (kind === null) return <circle cx={x} cy={y + 7} r={7} className="begin" />
  const count = counts?.[name] ?? 0
  const age = ages?.[name]
  const stuckHere = stuck?.[name] ?? 0
  const left = x - width / 2
  const marks = [
    counts !== undefined && count === 0 ? 'none' : '',
    name === current ? 'current' : '',
    walked.includes(name) ? 'seen' : '',
    stuckHere > 0 ? 'is-stuck' : '',
    kind === 'transitional' && age !== undefined && count > 0 ? heat(age) : '',
  ]
  const words = [
    `${name} (${kind})`,
    counts === undefined ? '' : `${count} resources`,
    stuckHere > 0 ? `${stuckHere}${isPart ? ' or more' : ''} stuck` : '',
    age !== undefined && count > 0 ? `oldest for ${spanPassed(age)}` : '',
  ]
  const badge = counts !== undefined && count > 0 ? count.toLocaleString('en') : ''
  const badgeWidth = Math.max(22, badge.length * 8 + 12)
  const drawn = (
    <g className={`box ${kind} ${marks.join(' ')}`}>
      <title>{words.filter(Boolean).join(', ')}</title>
      {name === current && (
        <rect
          className="halo"
          x={left - 5}
          y={y - 5}
          width={width + 10}
          height={height + 10}
          rx={kind === 'transitional' ? 17 : 9}
        />
      )}
      <rect className="body" x={left} y={y} width={width} height={height} rx={kind === 'transitional' ? 13 : 5} />
      <text className="name" x={x} y={y + 19.5}>
        {name}
      </text>
      {notes.map((note, index) => (
        <text key={note} className="note" x={x} y={y + 34 + index * 14}>
          {note}
        </text>
      ))}
      {badge !== '' && (
        <>
          <rect
            className={`count ${stuckHere > 0 ? 'stuck' : ''}`}
            x={left + width - badgeWidth / 2 - 4}
            y={y - 11}
            width={badgeWidth}
            height={20}
            rx={10}
          />
          <text className="count" x={left + width - 4} y={y + 3.5}>
            {badge}
          </text>
        </>
      )}
      {badge !== '' && kind === 'transitional' && age !== undefined && (
        <text className="age" x={left} y={y - 4}>
          {spanPassed(age)}
        </text>
      )}
    </g>
  )
  if (href === undefined) return drawn
  return (
    <a
      href={href(name)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || onPick === undefined) return
        event.preventDefault()
        onPick(name)
      }}
    >
      {drawn}
    </a>
  )
}

/** The longer in transition, the warmer. */
const heat = (age: number): string => (age > 3_600_000 ? 'hot' : age > 600_000 ? 'warm' : age > 60_000 ? 'mild' : '')
