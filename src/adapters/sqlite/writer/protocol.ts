import type { GuessBudget, Reservation, ReservationRequest } from '../../../domain/guess-budget.js';
import type { BudgetName } from '../../../ports/budgets.js';
import type { BuiltRow, Rebuild } from '../../../ports/generations.js';
import type {
  DirectoryRevision,
  EndedKey,
  KeyRevision,
  LivingGenerationKey,
  LogMemory,
  NewDataKey,
  RewrappedDataKey,
  TenantKeyPurpose,
} from '../../../ports/key-store.js';
import type { FoundProblem } from '../../../ports/store-problem.js';
import type { CommitOutcome } from '../../../ports/unit-of-work.js';
import type { SealedTokenId } from '../../../ports/webhook-store.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { StoredProjection } from '../../../views/versions.js';
import type { PackedChange } from './packed-change.js';
import type { ThreadFailure } from './thread-failure.js';

export type TenantKeyRow = {
  readonly id: string;
  readonly tenant: string;
  readonly purpose: TenantKeyPurpose;
  readonly madeAt: number;
  readonly wrapped: Uint8Array;
};

/**
 * All keys wrapped under the root key, rewrapped under a new root key. `retired` lists the tenant keys that are
 * destroyed when the root key is replaced, and `at` is the time of their destruction. Copies of the key store made
 * before `voidBefore` contain none of the remaining keys. If this time is unknown, `voidBefore` is null. All times are
 * in ms.
 */
export type NewRoot = {
  readonly tenantKeys: readonly NewDataKey[];
  readonly generationKeys: readonly LivingGenerationKey[];
  readonly retired: readonly string[];
  readonly rootCheck: Uint8Array;
  readonly at: number;
  readonly voidBefore: number | null;
};

/**
 * The operations of the writer thread, with their inputs and results: first those of `vault.db`, then those of `keys.db`
 * and of the access log.
 */
export type WriterOperations = {
  commit: { input: PackedChange; answer: CommitOutcome };
  forget_claim: { input: { readonly cmd: string }; answer: null };
  /**
   * Removes some of the claims that finished before this time. Returns true if none are left. The other requests that
   * remove rows also remove a limited number. Otherwise, all other requests would wait until millions of rows are
   * removed.
   */
  forget_claims: { input: { readonly notBefore: number }; answer: boolean };
  forget_tombstones: { input: { readonly notBefore: number }; answer: boolean };
  mark_key_used: { input: { readonly keyHash: string; readonly minute: number }; answer: null };
  reserve_guesses: {
    input: {
      readonly name: BudgetName;
      readonly applicationId: string;
      readonly budget: GuessBudget;
      readonly request: ReservationRequest;
    };
    answer: Reservation;
  };
  save_webhook: {
    input: {
      readonly webhookId: string;
      readonly version: number;
      readonly text: string;
      readonly delivered: readonly string[];
    };
    answer: boolean;
  };
  /** Removes a webhook's state and some of its sealed ids. Returns true if none are left. */
  remove_webhook: { input: { readonly webhookId: string }; answer: boolean };
  keep_webhook_ids: { input: readonly SealedTokenId[]; answer: null };
  forget_webhook_ids: {
    input: { readonly notBefore: number; readonly markedBefore: number };
    answer: boolean;
  };
  begin_generation: { input: Rebuild; answer: boolean };
  save_version: {
    input: { readonly name: StoredProjection; readonly version: number };
    answer: null;
  };
  save_rebuild: { input: Rebuild | null; answer: null };
  put_rows: {
    input: { readonly generation: number; readonly rows: readonly BuiltRow[] };
    answer: null;
  };
  swap_generation: {
    input: { readonly rebuild: Rebuild; readonly version: number };
    answer: boolean;
  };
  leave_generation: { input: { readonly generation: number }; answer: null };
  empty_generation: { input: { readonly generation: number }; answer: boolean };
  /**
   * Returns true if `vault.db` no longer contains the postings removed by changes up to the numbers in the input. The
   * input contains one number for each set of tables. If `vault.db` still contains some of these postings, the thread
   * begins to erase them and returns false. Fails while they cannot be erased, for example because the disk is full.
   */
  erase_postings: { input: readonly number[]; answer: boolean };
  /**
   * Replaces all directory rows. If an event was appended to any tenant's stream after `upTo`, changes nothing and
   * returns false.
   */
  replace_directory: {
    input: { readonly records: readonly Stored<DirectoryRecord>[]; readonly upTo: number };
    answer: boolean;
  };
  /**
   * Copies the write-ahead log of `vault.db` into the file, truncates the log, and removes all groups from the journal.
   * Returns false if a reader or a full disk prevents this.
   */
  truncate_vault: { input: null; answer: boolean };
  insert_tenant_keys: { input: readonly TenantKeyRow[]; answer: null };
  insert_generation_key: {
    input: { readonly generation: number; readonly madeAt: number; readonly wrapped: Uint8Array };
    answer: null;
  };
  destroy_generation_key: {
    input: { readonly generation: number; readonly at: number };
    answer: number;
  };
  /** If the tenant key has been destroyed, stores nothing and returns false. */
  insert_data_keys: {
    input: {
      readonly tenantKeyId: string;
      readonly madeAt: number;
      readonly keys: readonly NewDataKey[];
    };
    answer: boolean;
  };
  destroy_keys: {
    input: {
      readonly ended: readonly EndedKey[];
      readonly advanced: readonly KeyRevision[];
      readonly at: number;
    };
    answer: number;
  };
  advance_keys: { input: readonly KeyRevision[]; answer: null };
  forget_revisions: { input: null; answer: null };
  note_directory: { input: readonly DirectoryRevision[]; answer: null };
  destroy_tenant_keys: {
    input: { readonly tenantId: string; readonly eventId: string; readonly at: number };
    answer: number;
  };
  rewrap_data_keys: { input: readonly RewrappedDataKey[]; answer: null };
  /**
   * Replaces the root key. Changes nothing and returns false if the input does not contain every key under the old root
   * key, or if a retired key still wraps a data key.
   */
  replace_root: { input: NewRoot; answer: boolean };
  /** Waits until the write-ahead log of `keys.db` is empty, and then returns. */
  empty_keys_log: { input: null; answer: null };
  remember_log: { input: LogMemory; answer: null };
  save_meta: { input: { readonly name: string; readonly value: Uint8Array }; answer: null };
  /**
   * Records entries from one month. `lines` are their lines (`linesOf`), separated by line breaks. If `isLast` is true,
   * the entries are appended to the journal even if they cannot be moved to the month's file before the next start.
   */
  record_access: {
    input: { readonly month: string; readonly lines: string; readonly entries: number; readonly isLast: boolean };
    answer: null;
  };
  /** Waits until all entries that were recorded before this request are in the month files, and then returns. */
  move_access: { input: null; answer: null };
  drop_access: { input: { readonly beforeMonth: string; readonly thisMonth: string }; answer: number };
};

export type WriterOperation = keyof WriterOperations;

export type WriterRequest = {
  [O in WriterOperation]: { readonly id: number; readonly operation: O; readonly input: WriterOperations[O]['input'] };
}[WriterOperation];

export type AccessRequest = Extract<WriterRequest, { operation: 'record_access' | 'move_access' | 'drop_access' }>;
export type RecordRequest = Extract<AccessRequest, { operation: 'record_access' }>;

/** A request to `vault.db` or `keys.db`. */
export type StoreRequest = Exclude<WriterRequest, AccessRequest>;

export type WriterReply =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  /** The request failed, and nothing in it has been stored. */
  | { readonly id: number; readonly ok: false; readonly failure: ThreadFailure };

export type FromWriter =
  /** `notice` is a message for the operator about the state of the files. */
  | { readonly message: 'ready'; readonly notice: string | null }
  /**
   * The replies to all requests in one commit to a file. Also used for replies that had to wait longer, for example for
   * an erasure.
   */
  | { readonly message: 'replies'; readonly of: 'vault' | 'keys' | 'access'; readonly replies: readonly WriterReply[] }
  /**
   * The file whose write-ahead log cannot be emptied because a program uses the file. It is null once no program
   * prevents this any longer.
   */
  | { readonly message: 'held_up'; readonly file: string | null }
  /** Why an index is no longer maintained. It is null once no index is damaged any longer. */
  | { readonly message: 'index_damaged'; readonly found: FoundProblem | null }
  /** The files cannot be used, either from the start or since a failure. The process must exit with this message. */
  | { readonly message: 'broken'; readonly problem: string | FoundProblem };

export type ToWriter =
  | { readonly message: 'requests'; readonly requests: readonly WriterRequest[] }
  | { readonly message: 'close' };
