import type { SearchKey } from '../../ports/key-ring.js';
import type { ReadToken } from '../../queries/read-token.js';
import type { TokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';
import type { Rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import type { ClaimedToken } from '../../views/finished-claim.js';
import type { ViewOf } from '../change-tokens.js';
import { createdAnswer } from './created-answer.js';
import { type Creation, type CreationWrite, decideCreation } from './creation.js';
import { refuseDeduplication } from './deduplication.js';
import { duplicateAnswer } from './duplicate-answer.js';
import { findDuplicate } from './find-duplicate.js';

/** A creation with the id that it is tried under. */
export type Candidate = { readonly creation: Creation; readonly id: string; readonly stream: string };

/** What becomes of a creation: a new token, one that was stored before, or the new one of an earlier creation. */
export type Outcome = { readonly creation: Creation } & (
  | { readonly is: 'new'; readonly write: CreationWrite }
  | { readonly is: 'stored'; readonly token: ReadToken }
  | { readonly is: 'twin'; readonly write: CreationWrite }
);

export type JointCreation =
  | { readonly ok: true; readonly outcomes: readonly Outcome[] }
  /** The indexes of the candidates whose ids are in use. */
  | { readonly ok: false; readonly taken: readonly number[] }
  | { readonly ok: false; readonly refusal: Rejected };

/** Decides several creations as if they were carried out one after the other. Deduplication comes before ids in use. */
export async function decideTogether(
  vault: Vault,
  caller: CommandContext['caller'],
  keys: readonly SearchKey[],
  candidates: readonly Candidate[],
  viewOf: ViewOf,
  at: number,
): Promise<JointCreation> {
  const { tenantId, applicationId: createdBy } = caller;
  const outcomes: Outcome[] = [];
  const byFingerprint = new Map<string, CreationWrite>();
  const streams = new Set<string>();
  const taken: number[] = [];
  for (const [index, { creation, id, stream }] of candidates.entries()) {
    const { fingerprintHash } = creation;
    const twin = creation.distinct ? byFingerprint.get(fingerprintHash) : undefined;
    const token =
      creation.distinct && twin === undefined ? await findDuplicate(vault, tenantId, fingerprintHash, null) : null;
    if (twin !== undefined) outcomes.push({ is: 'twin', creation, write: twin });
    else if (token !== null) {
      outcomes.push({ is: 'stored', creation, token });
    } else {
      const place = { id, view: viewOf(stream), at, createdBy };
      const write = streams.has(stream) ? null : decideCreation(vault, keys, creation, place);
      if (write === null) taken.push(index);
      else {
        streams.add(stream);
        byFingerprint.set(fingerprintHash, byFingerprint.get(fingerprintHash) ?? write);
        outcomes.push({ is: 'new', creation, write });
      }
    }
  }
  if (taken.length > 0) return { ok: false, taken };
  const met = outcomes.flatMap((outcome) => (outcome.is === 'stored' ? [outcome.token] : []));
  const deduplicates = candidates.some(({ creation }) => creation.distinct);
  const refusal = deduplicates ? await refuseDeduplication(vault, caller, met) : null;
  return refusal === null ? { ok: true, outcomes } : { ok: false, refusal };
}

/** What a repeat of the request looks at. */
export function claimedBy(outcome: Outcome, after: ViewOf): ClaimedToken {
  const { creation } = outcome;
  const { view, life } = outcome.is === 'stored' ? outcome.token : newToken(outcome.write, after);
  const { createdRevision, contentRevision: carriedContent } = life;
  const claimed = { stream: view.stream, createdRevision, carriedContent };
  return outcome.is === 'new' ? claimed : { ...claimed, deduplicated: true, cvcIgnored: creation.cvc !== null };
}

/** The token as its caller gets it. */
export function answerOf(vault: Vault, context: CommandContext, outcome: Outcome, after: ViewOf): TokenAnswer {
  const { cvc, transform } = outcome.creation;
  if (outcome.is === 'new') {
    const { view, open } = newToken(outcome.write, after);
    return createdAnswer(vault, context.caller, open, view, transform);
  }
  const token = outcome.is === 'stored' ? outcome.token : newToken(outcome.write, after);
  return duplicateAnswer(vault, context, token, {
    operation: 'create',
    cvcIgnored: cvc !== null,
    carriesFingerprint: true,
  });
}

function newToken({ view: before, payload }: CreationWrite, after: ViewOf): ReadToken {
  const view = after(before.stream);
  if (view.state.life === null) throw new Error('a created token must be live');
  return { view, life: view.state.life, open: payload };
}
