// homeostat/remote: drivers elsewhere, over HTTP in any language; and what a driver in TypeScript needs to know who calls it.
export { remoteDriver, type RemoteOptions } from './remote/remote-driver.ts'
export { faultOfSignature, signatureHeader, signed, timestampHeader, type Signed } from './remote/signature.ts'
