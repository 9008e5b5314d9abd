// One operation over everything that fits a filter: first what it would do, then at a rate and with a reason.
import { useState, type FormEvent } from 'react'
import { api, wordsOf, type AnswerOf } from '../api.ts'
import { asCurl } from '../copies.ts'
import { creates, useLifecycle } from '../lifecycle.ts'
import { address, go } from '../route.tsx'
import { useRefusal } from '../session.tsx'
import { useOpen, type Shown } from './act.tsx'
import { AskButton, Copy, Tag } from './bits.tsx'
import { Dialog } from './dialog.tsx'
import { Fields, focusFault, inputOf, typedDefaults, type Faults, type Typed } from './fields.tsx'
import { toast } from './toasts.tsx'

export interface Filter {
  readonly type: string
  readonly status?: string[]
  readonly kind?: 'stable' | 'transitional' | 'failed' | 'terminal'
  readonly tenant?: string
  readonly q?: string
}

export function BulkButton(given: { readonly filter: Filter; readonly total: number; readonly disabled: boolean }) {
  const open = useOpen()
  const refusal =
    useRefusal('bulk') ??
    (given.disabled ? 'What is stuck is healed, not changed in bulk.' : given.total === 0 ? 'Nothing fits.' : null)
  return (
    <AskButton refusal={refusal} onClick={() => open((shown) => <BulkDialog filter={given.filter} {...shown} />)}>
      {given.disabled ? 'Bulk ...' : `Bulk over ${given.total.toLocaleString('en')} ...`}
    </AskButton>
  )
}

function BulkDialog({ filter, isAway, onClose }: Shown & { readonly filter: Filter }) {
  const lifecycle = useLifecycle(filter.type)
  const [operation, setOperation] = useState('')
  const [typed, setTyped] = useState<Typed>({})
  const [reason, setReason] = useState('')
  const [perSecond, setPerSecond] = useState('10')
  const [preview, setPreview] = useState<AnswerOf<'createBulk'> | null>(null)
  const [confirmed, setConfirmed] = useState('')
  const [fault, setFault] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  const names = Object.entries(lifecycle?.operations ?? {})
    .filter(([, one]) => !creates(one))
    .map(([name]) => name)
  const schema = lifecycle?.operations[operation]?.input ?? null
  const read = inputOf(schema, typed)
  const body = {
    filter,
    operation,
    reason: reason.trim(),
    perSecond: Number(perSecond),
    ...('input' in read && schema !== null ? { input: read.input as never } : {}),
  }
  const isReady = operation !== '' && reason.trim() !== '' && Number(perSecond) > 0
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      setPreview(null)
      setFault('')
      setFaults({})
    }
  const ask = async (dryRun: boolean) => {
    if ('faults' in read) {
      setFaults(read.faults)
      return focusFault(read.faults)
    }
    try {
      const answer = await api.call('createBulk', {
        body: dryRun ? { ...body, dryRun: true } : { ...body, expected: preview!.total },
      })
      if (dryRun) return setPreview(answer)
      toast('good', `${answer.total} resources are worked off.`)
      onClose()
      go(address('bulk', answer.bulk!.id))
    } catch (error) {
      setFault(wordsOf(error))
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void ask(preview === null)
  }
  return (
    <Dialog title={`Bulk over ${filter.type}`} isAway={isAway} onClose={onClose}>
      <form onSubmit={submit}>
        <div className="body">
          <p className="words">
            Filter:{' '}
            {Object.entries(filter).map(([name, value]) => (
              <Tag key={name}>{`${name} ${String(value)}`}</Tag>
            ))}{' '}
            The list is frozen when you start, and worked off at the rate you give.
          </p>
          <div className="field">
            <label htmlFor="bulk-operation">Operation</label>
            <select
              id="bulk-operation"
              value={operation}
              onChange={(event) => {
                change(setOperation)(event.target.value)
                setTyped(typedDefaults(lifecycle?.operations[event.target.value]?.input ?? null))
              }}
            >
              <option value="">choose one</option>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
          {schema !== null && <Fields schema={schema} typed={typed} faults={faults} onType={change(setTyped)} />}
          <div className="field">
            <label htmlFor="bulk-rate">Per second</label>
            <input
              id="bulk-rate"
              type="number"
              min={0.1}
              max={1_000}
              step="any"
              value={perSecond}
              onChange={(event) => change(setPerSecond)(event.target.value)}
            />
          </div>
          <div className="field">
            <label htmlFor="bulk-reason">
              Reason <span className="quiet">kept in the audit</span>
            </label>
            <input id="bulk-reason" value={reason} onChange={(event) => change(setReason)(event.target.value)} />
          </div>
          {preview !== null && (
            <div className="preview" role="status">
              <b>
                {operation} would be asked of {preview.total.toLocaleString('en')}{' '}
                {preview.total === 1 ? 'resource' : 'resources'}; {preview.allowed.toLocaleString('en')} may do it now.
              </b>{' '}
              It takes about {Math.ceil(preview.total / Number(perSecond))} s. Among them:{' '}
              {preview.sample
                .slice(0, 6)
                .map(({ id }) => id)
                .join(', ')}
              <div className="field">
                <label htmlFor="bulk-confirm">
                  Type <b className="mono">{String(preview.total)}</b> to go on
                </label>
                <input
                  id="bulk-confirm"
                  // It appears where Preview was pressed, and is what comes next.
                  // oxlint-disable-next-line jsx-a11y/no-autofocus
                  autoFocus
                  autoComplete="off"
                  value={confirmed}
                  onChange={(event) => setConfirmed(event.target.value)}
                />
              </div>
            </div>
          )}
          {fault !== '' && (
            <div className="problem" role="alert">
              {fault}
            </div>
          )}
        </div>
        <footer>
          <Copy text={asCurl('createBulk', { body })} label="curl" />
          <span className="spring" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={preview === null ? 'primary' : 'danger'}
            disabled={!isReady || (preview !== null && confirmed !== String(preview.total))}
          >
            {preview === null ? 'Preview' : 'Start'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
