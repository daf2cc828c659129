import type { GuessBudget, Reservation, ReservationRequest } from '../../../domain/guess-budget.js';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import type { BudgetName } from '../../../ports/budgets.js';
import type { ChainLink } from '../../../ports/event-chain.js';
import type { BuiltRow, Rebuild } from '../../../ports/generations.js';
import type { DirectoryRevision, EndedKey, KeyRevision, LogMemory } from '../../../ports/key-ring.js';
import type { FoundProblem } from '../../../ports/store-problem.js';
import type { CommitOutcome, StoredChange } from '../../../ports/unit-of-work.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { StoredProjection } from '../../../views/versions.js';
import type { TenantKeyPurpose } from '../../key-ring/tenant-key.js';

export type TenantKeyRow = {
  readonly id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly madeAt: number;
  readonly wrapped: Uint8Array;
};

export type DataKeyRow = { readonly id: string; readonly wrapped: Uint8Array };

/** A data key under a newer key of its tenant; `from` and `to` are ids of keys of the tenant. */
export type RewrappedKey = DataKeyRow & { readonly from: string; readonly to: string };

/**
 * All that the root key wraps, under another one; `retired` are the keys of tenants that end with it, at `at`. Copies of
 * the keys from before `voidBefore` hold none of those that stay; null: nobody knows. Times in ms.
 */
export type NewRoot = {
  readonly tenantKeys: readonly DataKeyRow[];
  readonly generationKeys: readonly { readonly generation: number; readonly wrapped: Uint8Array }[];
  readonly retired: readonly string[];
  readonly rootCheck: Uint8Array;
  readonly at: number;
  readonly voidBefore: number | null;
};

/** What the thread that owns both files can be asked for, with the answer of each. */
export type WriterOperations = {
  commit: { of: 'vault'; input: StoredChange; answer: CommitOutcome };
  forget_claims: { of: 'vault'; input: { readonly notBefore: number }; answer: number };
  forget_tombstones: { of: 'vault'; input: { readonly notBefore: number }; answer: number };
  mark_key_used: { of: 'vault'; input: { readonly keyHash: string; readonly day: number }; answer: null };
  reserve_guesses: {
    of: 'vault';
    input: {
      readonly name: BudgetName;
      readonly applicationId: string;
      readonly budget: GuessBudget;
      readonly request: ReservationRequest;
    };
    answer: Reservation;
  };
  begin_generation: { of: 'vault'; input: Rebuild; answer: boolean };
  save_version: {
    of: 'vault';
    input: { readonly name: StoredProjection; readonly version: number };
    answer: null;
  };
  save_rebuild: { of: 'vault'; input: Rebuild | null; answer: null };
  put_rows: {
    of: 'vault';
    input: { readonly generation: number; readonly rows: readonly BuiltRow[] };
    answer: null;
  };
  swap_generation: {
    of: 'vault';
    input: { readonly rebuild: Rebuild; readonly version: number };
    answer: boolean;
  };
  leave_generation: { of: 'vault'; input: { readonly generation: number }; answer: null };
  empty_generation: { of: 'vault'; input: { readonly generation: number }; answer: boolean };
  /** False: something was appended after `upTo` to the stream of a tenant. */
  replace_directory: {
    of: 'vault';
    input: { readonly records: readonly Stored<DirectoryRecord>[]; readonly upTo: number };
    answer: boolean;
  };
  /** Copies the log of `vault.db` back and cuts it to nothing; false: a reader is in the way. */
  truncate_vault: { of: 'vault'; input: null; answer: boolean };
  insert_tenant_keys: { of: 'keys'; input: readonly TenantKeyRow[]; answer: null };
  insert_generation_key: {
    of: 'keys';
    input: { readonly generation: number; readonly madeAt: number; readonly wrapped: Uint8Array };
    answer: null;
  };
  destroy_generation_key: {
    of: 'keys';
    input: { readonly generation: number; readonly at: number };
    answer: number;
  };
  insert_data_keys: {
    of: 'keys';
    input: {
      readonly tenantKeyId: string;
      readonly madeAt: number;
      readonly link: ChainLink | null;
      readonly keys: readonly DataKeyRow[];
    };
    answer: null;
  };
  /** `link`: what the key store remembers of the log. */
  destroy_keys: {
    of: 'keys';
    input: {
      readonly ended: readonly EndedKey[];
      readonly advanced: readonly KeyRevision[];
      readonly at: number;
      readonly link: ChainLink | null;
    };
    answer: number;
  };
  advance_keys: { of: 'keys'; input: readonly KeyRevision[]; answer: null };
  forget_revisions: { of: 'keys'; input: null; answer: null };
  note_directory: { of: 'keys'; input: readonly DirectoryRevision[]; answer: null };
  destroy_tenant_keys: {
    of: 'keys';
    input: { readonly tenantId: string; readonly eventId: string; readonly at: number };
    answer: number;
  };
  rewrap_data_keys: { of: 'keys'; input: readonly RewrappedKey[]; answer: null };
  /** False: something else than what it names is under the old keys; nothing was changed. */
  replace_root: { of: 'keys'; input: NewRoot; answer: boolean };
  /** Answers when the log of `keys.db` is empty. */
  empty_keys_log: { of: 'keys'; input: null; answer: null };
  remember_log: { of: 'keys'; input: LogMemory; answer: null };
  save_meta: { of: 'keys'; input: { readonly name: string; readonly value: Uint8Array }; answer: null };
  record_access: { of: 'access'; input: readonly AccessEntry[]; answer: null };
  drop_access: { of: 'access'; input: { readonly beforeMonth: string }; answer: number };
};

export type WriterOperation = keyof WriterOperations;

export type WriterRequest = {
  [O in WriterOperation]: { readonly id: number; readonly operation: O; readonly input: WriterOperations[O]['input'] };
}[WriterOperation];

export type WriterReply =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  /** `store` null: the request itself was wrong, which is a bug of ours; nothing of it is stored. */
  | { readonly id: number; readonly ok: false; readonly store: string | null; readonly reason: string };

export type FromWriter =
  | { readonly message: 'ready' }
  /** All that one commit of this file answered, or erasures that were waiting for it. */
  | { readonly message: 'replies'; readonly of: 'vault' | 'keys' | 'access'; readonly replies: readonly WriterReply[] }
  /** The files cannot be used any more, or never could: the process must end with this text. */
  | { readonly message: 'broken'; readonly problem: string | FoundProblem };

export type ToWriter =
  | { readonly message: 'requests'; readonly requests: readonly WriterRequest[] }
  | { readonly message: 'close' };
