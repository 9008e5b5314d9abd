// Says to the compiler that two types are the same: it does not compile when they are not.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export function same<A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void {}
