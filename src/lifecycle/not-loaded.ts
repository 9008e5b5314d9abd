// What is said to whoever names a type that no loaded lifecycle has.
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { Plans } from './plan.ts'

export const notLoaded = (plans: Plans, type: string): string => {
  const types = plans.all.map((plan) => plan.type)
  return `No lifecycle of type '${type}' is loaded. ${didYouMeanOf(type, types)}`
}
