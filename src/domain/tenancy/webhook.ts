import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { codePointCount, isWellFormed } from '../text.js';
import { checkContainers } from '../token/fields/containers.js';
import type { TokenEventType } from '../token/token-event-header.js';
import { type TokenType, tokenTypes } from '../token/types/token-type.js';
import type { Stamps } from './stamps.js';

/**
 * The events that a webhook can subscribe to: the events about tokens and applications, and denied requests. See
 * docs/contract.md, "Webhooks".
 */
const offered = {
  'token.created': true,
  'token.updated': true,
  'token.deleted': true,
  'token.expired': true,
  'token.property.expired': true,
  'application.created': true,
  'application.updated': true,
  'application.deleted': true,
  'application.key.issued': true,
  'application.key.revoked': true,
  'access.denied': true,
} satisfies Record<Exclude<TokenEventType, 'token.fenced'>, true> & Record<string, true>;

export type WebhookEventType = keyof typeof offered;
export const webhookEventTypes = Object.keys(offered) as readonly WebhookEventType[];

/** The webhook properties set by the webhook's owner. */
export type WebhookSpec = {
  readonly url: string;
  /** A description for human readers. It may be empty. */
  readonly description: string;
  /** If false, nothing is delivered. After the webhook is enabled again, deliveries continue where they stopped. */
  readonly enabled: boolean;
  readonly event_types: readonly WebhookEventType[];
  /** Of the events about tokens, only those about these types are delivered. Null means all types. */
  readonly token_types: readonly TokenType[] | null;
  /** Of the events about tokens, only those in or below these containers are delivered. Null means all containers. */
  readonly containers: readonly string[] | null;
};

/** A new secret that has not been shown yet: `whsec_` followed by 32 random bytes in base64. */
export type NewWebhookSecret = { readonly secret: string };

/**
 * A webhook secret. Times are in milliseconds since the epoch. From `ends_at` on, the secret no longer signs
 * deliveries. `ends_at` is null for the newest secret.
 */
export type WebhookSecret = NewWebhookSecret & { readonly created_at: number; readonly ends_at: number | null };

/** A webhook, as sealed in its tenant's document. */
export type WebhookDocument = WebhookSpec &
  Stamps & {
    readonly id: string;
    /** The webhook's secrets, newest first. */
    readonly secrets: readonly WebhookSecret[];
    /** The key that seals the ids of deleted and expired tokens: 32 bytes in base64. */
    readonly id_key: string;
  };

/** The maximum number of webhooks per tenant. The tenant's document contains all of them. */
export const webhooksMax = 10;
/** The maximum number of secrets that sign a delivery: the newest secret and the secrets that it replaced. */
const secretsMax = 3;

/**
 * Returns the secrets after a rotation. Each previous secret expires when the overlap period is over, or at its current
 * expiry time if that is earlier. If there are more than `secretsMax` secrets, the oldest are dropped.
 */
export function rotatedSecrets(
  { secrets }: WebhookDocument,
  { secret, overlapMs }: { readonly secret: NewWebhookSecret; readonly overlapMs: number },
  at: number,
): readonly WebhookSecret[] {
  const ended = secrets
    .map((old) => ({ ...old, ends_at: Math.min(old.ends_at ?? Number.POSITIVE_INFINITY, at + overlapMs) }))
    .filter(({ ends_at: endsAt }) => endsAt > at);
  return [{ ...secret, created_at: at, ends_at: null }, ...ended].slice(0, secretsMax);
}

/** Returns the secrets that sign a delivery at the time `at`, newest first. */
export function signingSecrets({ secrets }: Pick<WebhookDocument, 'secrets'>, at: number): readonly string[] {
  return secrets.filter(({ ends_at: endsAt }) => endsAt === null || at < endsAt).map(({ secret }) => secret);
}

/** Returns whether a token in these containers passes the webhook's container filter. */
export function coversContainers({ containers: filter }: WebhookSpec, containers: readonly string[]): boolean {
  return filter === null || containers.some((container) => filter.some((wanted) => container.startsWith(wanted)));
}

/** The fields of a request to create or update a webhook. The JSON types of the fields have already been checked. */
export type WebhookFields = {
  readonly url: string;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly event_types: readonly string[];
  readonly token_types?: readonly string[] | null | undefined;
  readonly containers?: readonly string[] | null | undefined;
};

const urlCharactersMax = 2_000;
const descriptionCharactersMax = 200;
const control = /\p{Cc}/u;

/** Parses a webhook. `checkTarget` returns a message if the URL is not allowed, or null if it is allowed. */
export function parseWebhook(fields: WebhookFields, checkTarget: (url: URL) => string | null): Checked<WebhookSpec> {
  const url = parseUrl(fields.url, checkTarget);
  const description = parseDescription(fields.description ?? '');
  const eventTypes = parseWords('event_types', fields.event_types, webhookEventTypes);
  const types = fields.token_types == null ? valid(null) : parseWords('token_types', fields.token_types, tokenTypes);
  const containers = fields.containers == null ? valid(null) : checkContainers([...fields.containers]);
  if (!(url.ok && description.ok && eventTypes.ok && types.ok && containers.ok)) {
    return { ok: false, errors: errorsOf([url, description, eventTypes, types, containers]) ?? {} };
  }
  return valid({
    url: url.value,
    description: description.value,
    enabled: fields.enabled ?? true,
    event_types: eventTypes.value,
    token_types: types.value,
    containers: containers.value,
  });
}

function parseUrl(text: string, checkTarget: (url: URL) => string | null): Checked<string> {
  const tooLong = `must have at most ${urlCharactersMax} characters, also after percent-encoding`;
  if (text.length > urlCharactersMax) return invalid('url', tooLong);
  if (!URL.canParse(text)) return invalid('url', 'must be a valid URL, such as https://example.com/events');
  const url = new URL(text);
  // Percent-encoding can make the stored address longer than the text. A client must be able to send the stored address
  // back in an update.
  if (url.href.length > urlCharactersMax) return invalid('url', tooLong);
  if (url.username !== '' || url.password !== '') return invalid('url', 'must not contain a user or a password');
  const problem = checkTarget(url);
  return problem === null ? valid(url.href) : invalid('url', problem);
}

function parseDescription(text: string): Checked<string> {
  const fits = codePointCount(text) <= descriptionCharactersMax && isWellFormed(text) && !control.test(text);
  return fits
    ? valid(text)
    : invalid(
        'description',
        `must have at most ${descriptionCharactersMax} characters, none of them a control character`,
      );
}

/**
 * Checks that a list is not empty and contains only words from `known`. Returns the words without duplicates, in the
 * order in which `known` lists them.
 */
function parseWords<Word extends string>(
  field: string,
  given: readonly string[],
  known: readonly Word[],
): Checked<readonly Word[]> {
  const words = known.filter((word) => given.includes(word));
  const isKnown = given.every((word) => known.some((other) => other === word));
  return isKnown && words.length > 0 ? valid(words) : invalid(field, `must be one or more of ${known.join(', ')}`);
}
