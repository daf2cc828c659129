/**
 * Replaces all that wraps data keys: the wrapping key of every tenant, and the root key above them (ADR 29). `begin`,
 * then `rewrap` to its end, then `replaceRoot`; after a crash all of it again, which goes on where it was. Others
 * create, open and destroy keys meanwhile.
 */
export type KeyRotation = {
  /** Whether the store is under this root key now. */
  isUnder(rootKey: Buffer): Promise<boolean>;
  /** From when it resolves new data keys are wrapped by new keys of their tenants. Answers how many data keys live. */
  begin(): Promise<number>;
  /**
   * Rewraps some hundreds of living data keys after this sequence (0: the first). One that is destroyed meanwhile stays
   * destroyed. Null: there is none after it. Throws RotationRefused when one does not open.
   */
  rewrap(afterSequence: number): Promise<RewrapStep | null>;
  /**
   * Puts everything that the root key wraps, whatever it is for, under `next` and destroys the old keys of tenants: at
   * once or not at all. False: data keys under old ones came in meanwhile; begin again.
   */
  replaceRoot(next: Buffer): Promise<boolean>;
  /**
   * Copies of the keys from before this moment, ms, are void without the root key of then: the last rotation that ended
   * had begun. Null: none ever ended.
   */
  voidBefore(): Promise<number | null>;
  /** Resolves when no file of the store holds replaced bytes any more (MongoDB cannot promise that: ADR 22). */
  settle(): Promise<void>;
};

/** `sequence`: that of the last key it looked at. `looked`: at how many. */
export type RewrapStep = { readonly sequence: number; readonly looked: number };

/** What keeps a rotation from going on, and what to do. */
export class RotationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RotationRefused';
  }
}
