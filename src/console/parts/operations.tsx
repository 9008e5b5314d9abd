// What may be asked of a resource, as buttons; the rest grey, each with the reason why not.
import { useState } from 'react'
import { type Resource } from '../api.ts'
import { asCli, word, words } from '../copies.ts'
import { creates, onlyLacksInput, removes, useLifecycle, type Operation, type Schema } from '../lifecycle.ts'
import { useRefusal } from '../session.tsx'
import { useAct } from './act.tsx'
import { AskButton } from './bits.tsx'

/** Resources that its input names are looked for where the resource itself is. */
const inTenant = (input: Schema | null, tenant: string): Schema | null =>
  input === null
    ? null
    : {
        ...input,
        properties: Object.fromEntries(
          Object.entries(input.properties ?? {}).map(([name, one]) => [name, { ...one, tenant }]),
        ),
      }

/** More that may not be asked for now are folded up: what may be is not to be looked for among them. */
const refusedMost = 6

export function Operations({ resource }: { readonly resource: Resource }) {
  const { type, id, status, etag } = resource
  const act = useAct()
  const lifecycle = useLifecycle(type)
  const mayNot = useRefusal('operate')
  const mayNotForce = useRefusal('force')
  const mayNotRepair = useRefusal('repair')
  const [isWhole, setWhole] = useState(false)
  if (lifecycle === undefined) return <div className="operations" />
  const refused = new Map((resource.refused ?? []).map((one) => [one.operation, one]))
  const names = Object.keys(lifecycle.operations).filter((name) => !creates(lifecycle.operations[name]!))
  const refusalOf = (name: string): string | null => {
    const refusal = refused.get(name)
    if (mayNot !== null) return mayNot
    return refusal === undefined || onlyLacksInput(lifecycle.operations[name], refusal, status) ? null : refusal.reason
  }
  const open = (name: string, operation: Operation) =>
    act({
      route: 'operate',
      title: `${name} ${id}`,
      does: name,
      danger: removes(lifecycle, name),
      ...(removes(lifecycle, name) ? { confirm: id } : {}),
      words: (
        <>
          {operation.meaning !== '' && <p>{operation.meaning}</p>}
          <ul>
            {operation.words.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      ),
      schema: inTenant(operation.input, resource.tenant),
      given: ({ input }) => ({
        path: { type, id, operation: name },
        ...(operation.input === null ? {} : { body: input as never }),
      }),
      cli: ({ input }) => asCli('do', word(`${type}/${id}`), word(name), words(input)),
      done: ({ resource: after }) => `${name} accepted: ${after.id} is ${after.status}.`,
    })
  const force = () =>
    act({
      route: 'deleteResource',
      title: `Force delete ${id}`,
      does: 'Force delete',
      danger: true,
      reason: 'needed',
      confirm: id,
      words: (
        <p>
          The record goes even if the backend does not answer. What may be left behind in the real world stays in the
          ledger and is listed under <i>Orphans</i> until it is confirmed gone.
        </p>
      ),
      given: ({ reason }) => ({ path: { type, id }, query: { force: 'true', reason } }),
      cli: ({ reason }) => asCli('rm', word(`${type}/${id}`), '--force', '--reason', word(reason)),
    })
  const repair = () =>
    act({
      route: 'setStatus',
      title: `Set the status of ${id}`,
      does: 'Set status',
      danger: true,
      reason: 'needed',
      confirm: id,
      words: (
        <p>
          A guarded repair: the epoch goes up first, so that whoever still works on it can write nothing more. Rules are
          judged as always.
        </p>
      ),
      schema: { properties: { status: { enum: lifecycle.statuses.map(({ name }) => name) } }, required: ['status'] },
      options: { ifMatch: etag },
      given: ({ reason, input }) => ({
        path: { type, id },
        body: { status: (input['status'] as string | undefined) ?? '', reason },
      }),
      cli: ({ reason, input }) =>
        asCli(
          'set-status',
          word(`${type}/${id}`),
          word((input['status'] as string | undefined) ?? ''),
          '--reason',
          word(reason),
        ),
    })
  const isGone = resource.kind === 'terminal' ? `${id} is ${status}: nothing leads out of that.` : null
  const canForce = Object.values(lifecycle.operations).some(
    ({ declared }) => declared.force !== undefined && declared.force !== null,
  )
  const allowed = names.filter((name) => refusalOf(name) === null)
  const rest = names.filter((name) => refusalOf(name) !== null)
  const canFold = rest.length > refusedMost
  const button = (name: string) => {
    const refusal = refusalOf(name)
    return (
      <button
        key={name}
        type="button"
        className={removes(lifecycle, name) ? 'danger-outline' : ''}
        aria-disabled={refusal !== null}
        aria-describedby={refusal === null ? undefined : `refusal-${name}`}
        onClick={() => refusal === null && open(name, lifecycle.operations[name]!)}
      >
        {name}
        {refusal !== null && (
          <span className="tip" role="tooltip" id={`refusal-${name}`}>
            {refusal}
          </span>
        )}
      </button>
    )
  }
  return (
    <div className="operations" role="group" aria-label="Operations">
      {/* One list: a button that is allowed no longer, or again, keeps the focus. */}
      {[
        ...allowed.map(button),
        canFold && (
          <button key="" type="button" className="ghost" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {rest.length} not now ...
          </button>
        ),
        ...(canFold && !isWhole ? [] : rest.map(button)),
      ]}
      <span className="spring" />
      {canForce && (
        <AskButton className="small ghost" refusal={mayNotForce ?? isGone} onClick={force}>
          Force delete ...
        </AskButton>
      )}
      <AskButton className="small ghost" refusal={mayNotRepair ?? isGone} onClick={repair}>
        Set status ...
      </AskButton>
    </div>
  )
}
