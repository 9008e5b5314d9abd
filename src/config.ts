// homeostat/config: what a homeostat.config.ts says.
export { defineConfig, defineModule, type Config, type ConfigContext, type Module } from './cli/config.ts'
