// What the server of P10 serves: the bench lifecycles, as a user's config would name his own. Everything else is as it is by default.
import { defineConfig, defineModule } from 'homeostat/config'
import { poolDriver, pools, volumeDriver, volumes } from './lifecycle.ts'

export default defineConfig({
  modules: [defineModule({ lifecycles: { pools, volumes }, drivers: { pools: poolDriver, volumes: volumeDriver } })],
})
