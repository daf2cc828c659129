/** The only source of chance, cryptographically strong in production. Tests own it. */
export interface Random {
  uuid(): string;
  /** A whole number from 0 to `maxExclusive` - 1, each equally likely. */
  integer(maxExclusive: number): number;
  bytes(length: number): Buffer;
}
