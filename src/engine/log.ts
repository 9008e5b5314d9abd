// How the engine speaks: through a function it is given. Silent unless somebody listens.

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export const silent: Log = () => {}
