// What the server of P10 serves: the bench lifecycles, as a user's config would name his own. Everything else is as it is by default, but for
// the rate: one caller may ask 10,000 times a second, and here he asks more often.
import { defineConfig, defineModule } from 'homeostat/config'
import { poolDriver, pools, volumeDriver, volumes } from './lifecycle.ts'

export default defineConfig({
  rate: { perSecond: 100_000, burst: 100_000 },
  modules: [defineModule({ lifecycles: { pools, volumes }, drivers: { pools: poolDriver, volumes: volumeDriver } })],
})
