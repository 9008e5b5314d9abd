// What the development mode can break: given by whoever puts server and backends together.
import type { JsonObject } from '../base/json.ts'

export interface DevSwitches {
  faults(): Promise<readonly JsonObject[]>
  setFault(fault: JsonObject): Promise<JsonObject>
  /** One, or all of them. */
  clearFaults(id?: string): Promise<void>
  /** What really exists. */
  truth(): Promise<readonly JsonObject[]>
  /** Ends this process at once, as a crash would; or stops it for a while. */
  strike(how: 'kill' | 'freeze', seconds: number): Promise<void>
}
