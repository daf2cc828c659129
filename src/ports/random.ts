/** The only source of randomness, cryptographically strong in production. Tests replace it. */
export interface Random {
  uuid(): string;
  /** An integer from 0 to `maxExclusive` - 1, each equally likely. */
  integer(maxExclusive: number): number;
  bytes(length: number): Buffer;
}
