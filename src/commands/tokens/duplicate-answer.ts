import { transformFor } from '../../domain/access/decide-access.js';
import type { ReadToken } from '../../queries/read-token.js';
import { type TokenAnswer, tokenAnswer } from '../../queries/token-answer.js';
import type { CommandContext } from '../../vault/command-context.js';

/**
 * The fields of the other token for a caller that may not read it (docs/contract.md, "Deduplication on create").
 */
const shownUnread = {
  create: ['id', 'type', 'tenant_id', 'fingerprint', 'containers'],
  update: [
    ...['id', 'type', 'tenant_id', 'fingerprint', 'containers', 'expires_at'],
    ...['created_by', 'created_at', 'modified_by', 'modified_at'],
  ],
} as const;

/** The response when a request finds a living token with the same fingerprint. */
export function duplicateAnswer(
  { caller }: CommandContext,
  token: ReadToken,
  request: {
    readonly operation: 'create' | 'update';
    readonly cvcIgnored: boolean;
    readonly carriesFingerprint: boolean;
  },
): TokenAnswer {
  const extras = { deduplicated: true, ...(request.cvcIgnored ? { cvc_ignored: true } : {}) };
  const transform = transformFor(caller, 'token:read', token.open.containers);
  const options = { extras, carriesFingerprint: request.carriesFingerprint };
  if (transform !== null) return tokenAnswer(caller, token, transform, options);
  return tokenAnswer(caller, token, 'redact', { ...options, fields: [...shownUnread[request.operation], '_extras'] });
}
