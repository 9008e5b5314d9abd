// What the parent tells a worker process over IPC, and what it hears back.
import type { Command } from '../../src/decision/command.ts'

export type Task =
  | { readonly do: 'submit'; readonly command: Command }
  | { readonly do: 'commits' | 'incarnation' | 'heal' }
  | { readonly do: 'preview'; readonly limit: number }
  /** Keeps the event loop busy. */
  | { readonly do: 'block'; readonly ms: number }

export type Order = Task & { readonly id: number }

export type Reply =
  | { readonly said: 'ready'; readonly incarnation: number }
  | { readonly said: 'lost' }
  | { readonly said: 'answer'; readonly to: number; readonly answer: unknown }
  | { readonly said: 'failed'; readonly to: number; readonly reason: string }

/** The answer to a submitted command. */
export type Submitted =
  | {
      readonly accepted: true
      readonly no: number
      readonly id: string
      readonly status: string
      readonly begun: number
    }
  | { readonly accepted: false; readonly code: string; readonly message: string }
