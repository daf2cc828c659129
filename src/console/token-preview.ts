import type { AccessFields } from '../domain/access/parse-access.js';
import { problemFrom } from '../http/problem/problem.js';
import { problemCatalogue } from '../http/problem/problem-catalogue.js';
import { previewToken, readingPermissions } from '../queries/preview-token.js';
import { maskedAnswer, release } from '../queries/release.js';
import type { Visit } from './page.js';
import { shownText } from './shown-text.js';

const dataShownMax = 2_000;
const noToken = problemCatalogue.token_not_found.detail;

type Asked = { readonly applicationId: string; readonly tokenId: string; readonly permission: string };

/** Returns the fields of the preview form before a preview has been requested. */
export function noPreview({ tokenId = '', permission = 'token:read' }: Partial<Omit<Asked, 'applicationId'>> = {}) {
  return { tokenId, permission, permissions: readingPermissions, error: null, result: null };
}

export type ShownPreview = Omit<ReturnType<typeof noPreview>, 'error' | 'result'> & {
  readonly error: string | null;
  readonly result: object | null;
};

/**
 * Returns what an application would see of a token. The page never shows more of the value than the session's private
 * application may see. It never shows plaintext, because revealing a value requires a reason.
 */
export async function shownPreview(visit: Visit, asked: Asked, access: AccessFields | null): Promise<ShownPreview> {
  const { vault, context } = visit;
  const { applicationId, tokenId } = asked;
  const permission = readingPermissions.find((one) => one === asked.permission) ?? 'token:read';
  const empty = noPreview({ tokenId, permission });
  if (tokenId === '') return { ...empty, error: 'Enter a token id.' };
  const viewer = visit.contextAs('private');
  const preview = await previewToken(vault, context, { applicationId, tokenId, access, permission, viewer });
  if (!preview.ok) {
    if (preview.code !== 'token_not_found') throw problemFrom(preview);
    return { ...empty, error: noToken };
  }
  const { decisions, token, isLimited } = preview.value;
  const decision = decisions.find((one) => one.permission === permission);
  const answer = token === null ? null : maskedAnswer(token);
  const render = await release(vault, viewer ?? context, answer === null ? [] : [answer]);
  const shown = answer === null ? null : await vault.turns.begin(context.caller.tenantId).run(render(answer));
  if (answer !== null && shown === null) return { ...empty, error: noToken };
  return {
    ...empty,
    result: {
      decisions: decisions.map(({ permission: name, transform, rule }) => ({ name, transform, rule })),
      seen: decision?.transform ?? null,
      /** True if the preview would be the plaintext. In this case, the page shows the mask instead. */
      isMasked: token?.transform === 'reveal',
      isLimited,
      hasViewer: viewer !== null,
      value: shown === null ? null : valueText(shown['data']),
      type: shown === null ? null : shown['type'],
    },
  };
}

function valueText(data: unknown): string | null {
  if (data === undefined) return null;
  return shownText(typeof data === 'string' ? data : JSON.stringify(data), dataShownMax);
}
