// Secrets that must be read again, because they sign, are sealed before they go to the store: AES-256-GCM, bound to what they belong to, so
// that a sealed text in another place is refused. The keys are not in the store. The first key seals, all of them open: a new one is put
// first, everything is sealed anew at the next start, and then the old one can go.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { HomeostatError } from '../base/errors.ts'
import { canonical, type Json } from '../base/json.ts'
import { secretText } from '../base/random.ts'
import { sha256 } from './principal.ts'

const keyMin = 32
const ivBytes = 12
const tagBytes = 16
const shape = /^sealed:1:([0-9a-f]{12}):([\w-]+)$/

export class Sealer {
  /** By their names; the first seals. */
  readonly #keys = new Map<string, Buffer>()

  /** Throws `listen_refused` for a key that is too short, or that an environment does not have. */
  constructor(keys: readonly (string | undefined)[]) {
    for (const text of keys) {
      if (text === undefined || text.length < keyMin)
        throw new HomeostatError(
          'listen_refused',
          `A key for secrets is ${text === undefined ? 'not set' : 'too short'}: give it at least ${keyMin} characters (HOMEOSTAT_SECRET_KEY as a rule).`,
        )
      const key = Buffer.from(hkdfSync('sha256', text, '', 'homeostat secrets 1', 32))
      this.#keys.set(sha256(key.toString('hex')).slice(0, 12), key)
    }
  }

  get hasKey(): boolean {
    return this.#keys.size > 0
  }

  /** `about` names what the secret belongs to. Throws `secret_key_missing`. */
  seal(secret: string, about: Json): string {
    const [first] = this.#keys
    if (first === undefined) throw keyMissing()
    const [name, key] = first
    const iv = Buffer.from(secretText(), 'base64url').subarray(0, ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    cipher.setAAD(Buffer.from(canonical(about)))
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `sealed:1:${name}:${sealed.toString('base64url')}`
  }

  /** Null: the key is not here, or it was sealed for something else, or altered. What was never sealed is as it is. */
  open(text: string, about: Json): string | null {
    if (!text.startsWith('sealed:')) return text
    const [, name = '', body = ''] = shape.exec(text) ?? []
    const key = this.#keys.get(name)
    const sealed = Buffer.from(body, 'base64url')
    if (key === undefined || sealed.length < ivBytes + tagBytes) return null
    const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
    opener.setAAD(Buffer.from(canonical(about)))
    opener.setAuthTag(sealed.subarray(-tagBytes))
    try {
      return opener.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8') + opener.final('utf8')
    } catch {
      return null
    }
  }

  /** Sealed with the key that seals now. Without any key nothing can be better than it is. */
  isCurrent(text: string): boolean {
    const [first] = this.#keys.keys()
    return first === undefined || shape.exec(text)?.[1] === first
  }
}

const keyMissing = () =>
  new HomeostatError('secret_key_missing', 'This server has no key to keep secrets with. Give it one: `secretKeys`.')
