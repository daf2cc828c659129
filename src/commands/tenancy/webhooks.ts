import { Secret } from '../../domain/secret.js';
import type { Seen } from '../../domain/tenancy/directory-command.js';
import type { TenantDirectory } from '../../domain/tenancy/tenant-directory.js';
import { parseWebhook, type WebhookDocument, type WebhookFields } from '../../domain/tenancy/webhook.js';
import { tenantDocument } from '../../vault/open-directory.js';
import type { RequestContext } from '../../vault/request-context.js';
import { type CommandResult, done, invalidFields } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';
import { type ChangeDirectoryDeps, changeDirectory, type DirectoryContext } from './change-directory.js';
import { onceInDirectory } from './once-in-directory.js';

const keyBytes = 32;

/** A webhook with a new secret. No later response contains the secret. */
export type WebhookWithSecret = { readonly webhook: WebhookDocument; readonly secret: Secret<string> };

/** A new webhook. `secret` is null in the response to a retry. */
type CreatedWebhook = { readonly webhook: WebhookDocument; readonly secret: Secret<string> | null };

/**
 * Creates a webhook with its first secret (docs/contract.md, "Webhooks"). `cmd` is the keyed hash of the request's
 * idempotency key.
 */
export async function createWebhook(
  vault: ChangeDirectoryDeps & Pick<Vault, 'webhookSender'>,
  context: DirectoryContext,
  fields: WebhookFields,
  cmd: string | null = null,
): Promise<CommandResult<WebhookWithSecret>> {
  const spec = parseWebhook(fields, vault.webhookSender.problemOf);
  if (!spec.ok) return invalidFields(spec.errors);
  const webhookId = vault.random.uuid();
  const secret = newSecret(vault);
  const idKey = vault.random.bytes(keyBytes).toString('base64');
  return changeDirectory(vault, context, {
    commands: [{ kind: 'create_webhook', webhookId, spec: spec.value, secret: { secret: secret.reveal() }, idKey }],
    claim: cmd === null ? null : { cmd, result: { webhookId } },
    answer: (after) => ({ webhook: webhookAfter(after, webhookId), secret }),
  });
}

/** Creates a webhook at most once per idempotency key. A retry returns the webhook in its current state. */
export function createWebhookOnce(
  vault: ChangeDirectoryDeps & Pick<Vault, 'claims' | 'webhookSender'>,
  context: DirectoryContext,
  fields: WebhookFields,
  idempotency: RequestContext['idempotency'],
): Promise<CommandResult<CreatedWebhook>> {
  return onceInDirectory<CreatedWebhook>(
    vault,
    context,
    idempotency,
    (cmd) => createWebhook(vault, context, fields, cmd),
    async ({ webhookId }) => {
      const tenant = await tenantDocument(vault, context.tenantId);
      const webhook = tenant?.webhooks.find(({ id }) => id === webhookId);
      return webhook === undefined ? null : done({ webhook, secret: null });
    },
  );
}

/** Replaces the fields of a webhook and keeps its secrets. */
export async function updateWebhook(
  vault: ChangeDirectoryDeps & Pick<Vault, 'webhookSender'>,
  context: DirectoryContext,
  webhookId: string,
  fields: WebhookFields,
  { seenChange }: Seen = {},
): Promise<CommandResult<WebhookDocument>> {
  const spec = parseWebhook(fields, vault.webhookSender.problemOf);
  if (!spec.ok) return invalidFields(spec.errors);
  return changeDirectory(vault, context, {
    commands: [{ kind: 'update_webhook', webhookId, spec: spec.value, seenChange }],
    answer: (after) => webhookAfter(after, webhookId),
  });
}

/** Enables or disables a webhook, and keeps its other fields, even if they are being changed at the same moment. */
export function switchWebhook(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  webhookId: string,
  enabled: boolean,
): Promise<CommandResult<WebhookDocument>> {
  return changeDirectory(vault, context, {
    commands: [{ kind: 'update_webhook', webhookId, spec: { enabled } }],
    answer: (after) => webhookAfter(after, webhookId),
  });
}

/**
 * Adds a secret to a webhook. During the overlap, deliveries are signed with the new secret and with the earlier
 * secrets.
 */
export function rotateWebhookSecret(
  vault: ChangeDirectoryDeps,
  context: DirectoryContext,
  webhookId: string,
  { overlapMs, seenChange }: Seen & { readonly overlapMs: number },
): Promise<CommandResult<WebhookWithSecret>> {
  const secret = newSecret(vault);
  return changeDirectory(vault, context, {
    commands: [
      { kind: 'rotate_webhook_secret', webhookId, secret: { secret: secret.reveal() }, overlapMs, seenChange },
    ],
    answer: (after) => ({ webhook: webhookAfter(after, webhookId), secret }),
  });
}

/** Deletes a webhook, its state, and the sealed token ids that are stored for it. */
export async function deleteWebhook(
  vault: ChangeDirectoryDeps & Pick<Vault, 'webhookStore'>,
  context: DirectoryContext,
  webhookId: string,
): Promise<CommandResult<null>> {
  const deleted = await changeDirectory(vault, context, {
    commands: [{ kind: 'delete_webhook', webhookId }],
    answer: () => null,
  });
  if (deleted.ok) await vault.webhookStore.remove(webhookId);
  return deleted;
}

/** Returns a new secret in the format that Standard Webhooks specifies. */
function newSecret({ random }: Pick<Vault, 'random'>): Secret<string> {
  return new Secret(`whsec_${random.bytes(keyBytes).toString('base64')}`);
}

function webhookAfter({ tenant }: TenantDirectory, webhookId: string): WebhookDocument {
  const webhook = tenant?.webhooks.find(({ id }) => id === webhookId);
  if (webhook === undefined) throw new Error('a changed webhook must exist');
  return webhook;
}
