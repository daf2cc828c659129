/** The only source of randomness. It is cryptographically strong in production, and tests replace it. */
export interface Random {
  uuid(): string;
  /** Returns a uniformly distributed integer from 0 to `maxExclusive` - 1. */
  integer(maxExclusive: number): number;
  bytes(length: number): Buffer;
}
