// Who may come in: tokens for programs, accounts for people.
import { useCall } from '../api.ts'
import { permissionsOf } from '../../protocol/permissions.ts'
import { asCli, word } from '../copies.ts'
import { ActButton, useAct } from '../parts/act.tsx'
import { At, Empty, PageHead, Panel, Read, Table, Tag, useTitle } from '../parts/bits.tsx'
import { Secret } from './webhooks.tsx'

export default function Access() {
  useTitle('Access')
  return (
    <>
      <PageHead
        title="Access"
        lead="Tokens for programs and accounts for people. Only hashes of secrets are kept; what is revoked ends at once, also on open streams."
      />
      <Tokens />
      <Accounts />
      <Panel title="Roles">
        <table>
          <tbody>
            {Object.entries(permissionsOf).map(([role, permissions]) => (
              <tr key={role}>
                <th scope="row">{role}</th>
                <td>
                  {permissions.map((one) => (
                    <Tag key={one}>{one}</Tag>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </>
  )
}

function Tokens() {
  const tokens = useCall('listTokens', {}, { everyMs: 5_000 })
  const act = useAct()
  const create = () =>
    act({
      route: 'createToken',
      title: 'New token',
      does: 'Create',
      words: <p>For a program. It is shown once, and ends by itself after the days you give.</p>,
      schema: {
        properties: {
          name: { type: 'string', description: 'What it is for.' },
          role: { enum: ['viewer', 'operator', 'admin', 'worker'] },
          tenant: { type: 'string', description: 'Left out: all tenants.' },
          days: { type: 'integer', minimum: 1, maximum: 90, default: 30 },
        },
        required: ['name', 'role'],
      },
      given: ({ input }) => ({ body: input as never }),
      cli: ({ input }) =>
        asCli(
          'token create',
          word((input['name'] as string | undefined) ?? ''),
          '--role',
          word((input['role'] as string | undefined) ?? ''),
        ),
      show: ({ secret }) => <Secret words="Keep it now: only its hash stays here." secret={secret} />,
    })
  return (
    <Panel
      title="Tokens"
      actions={
        <button type="button" className="small primary" onClick={create}>
          New token
        </button>
      }
    >
      <Read from={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No token.">A program signs in with one: New token shows its secret once.</Empty>
          ) : (
            <Table heads={['Name', 'Role', 'Tenant', 'Made', 'Ends']} hasActions>
              {items.map((one) => (
                <tr key={one.id}>
                  <td>
                    {one.name} <span className="quiet mono">{one.id}</span>
                  </td>
                  <td>
                    <Tag>{one.role}</Tag>
                  </td>
                  <td>{one.tenant ?? 'all'}</td>
                  <td>
                    <At time={one.createdAt} /> <span className="quiet">{one.createdBy}</span>
                  </td>
                  <td>
                    <At time={one.expiresAt} />
                  </td>
                  <td className="right">
                    <ActButton
                      className="small danger-outline"
                      act={{
                        route: 'revokeToken',
                        title: `Revoke ${one.name}`,
                        does: 'Revoke',
                        danger: true,
                        confirm: one.name,
                        words: <p>Whoever uses it is refused from the next request on, and its streams end.</p>,
                        given: () => ({ path: { token: one.id } }),
                        cli: () => asCli('token revoke', one.id),
                      }}
                    >
                      Revoke ...
                    </ActButton>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Read>
    </Panel>
  )
}

function Accounts() {
  const accounts = useCall('listAccounts', {}, { everyMs: 5_000 })
  const act = useAct()
  const create = () =>
    act({
      route: 'createAccount',
      title: 'New account',
      does: 'Create',
      words: <p>For a person who signs in here. The password has at least 12 characters.</p>,
      schema: {
        properties: {
          name: { type: 'string' },
          password: { type: 'string', format: 'password' },
          role: { enum: ['viewer', 'operator', 'admin'] },
          tenant: { type: 'string', description: 'Left out: all tenants.' },
        },
        required: ['name', 'password', 'role'],
      },
      given: ({ input }) => ({ body: input as never }),
      done: ({ name }) => `${name} can sign in.`,
    })
  return (
    <Panel
      title="Accounts"
      actions={
        <button type="button" className="small primary" onClick={create}>
          New account
        </button>
      }
    >
      <Read from={accounts}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No account.">People sign in with one: New account gives a name, a password and a role.</Empty>
          ) : (
            <ul className="rows-of">
              {items.map((one) => (
                <li key={one.name}>
                  <span>
                    <b>{one.name}</b> <Tag>{one.role}</Tag>{' '}
                    <span className="quiet">of {one.tenant ?? 'all tenants'}, since</span> <At time={one.createdAt} />
                  </span>
                  <span className="row">
                    <ActButton
                      className="small"
                      act={{
                        route: 'setPassword',
                        title: `New password of ${one.name}`,
                        does: 'Set',
                        words: <p>All sessions of the account end.</p>,
                        schema: {
                          properties: { password: { type: 'string', format: 'password' } },
                          required: ['password'],
                        },
                        given: ({ input }) => ({ path: { account: one.name }, body: input as never }),
                      }}
                    >
                      Password ...
                    </ActButton>
                    <ActButton
                      className="small danger-outline"
                      act={{
                        route: 'deleteAccount',
                        title: `Delete ${one.name}`,
                        does: 'Delete',
                        danger: true,
                        confirm: one.name,
                        words: <p>Its sessions end at once.</p>,
                        given: () => ({ path: { account: one.name } }),
                      }}
                    >
                      Delete ...
                    </ActButton>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Read>
    </Panel>
  )
}
