import { deliveryAdvice } from '../queries/findings/webhooks.js';
import { listWebhooks } from '../queries/tenancy/webhooks.js';
import { orNull } from '../vault/for-tenants.js';
import type { Visit } from './page.js';
import { sentence } from './shown-text.js';

/** A finding as the command line prints it. `advice` is null if `says` already states what to do. */
type Found = { readonly check: string; readonly says: string; readonly advice: string | null };

/** `webhooks` are the webhooks that the finding names and that the session may open. */
type Shown = { readonly webhooks: readonly { readonly id: string; readonly path: string }[] };

const timestamp = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)/g;
const adviceWithLinks =
  'Open the webhook and check its receiver. Then send a test, and let an operator deliver the events again.';

/** Formats findings for a page: with sentences, with times as on other pages, and with links in place of API calls. */
export async function shownFindings<One extends Found>(
  visit: Visit,
  findings: readonly One[],
): Promise<readonly (One & Shown)[]> {
  const own = findings.some(({ check }) => check === 'webhooks') ? await ownWebhooks(visit) : [];
  return findings.map((finding) => {
    const { says, advice } = finding;
    const webhooks = own.filter(({ id }) => says.includes(id));
    const told = webhooks.length === 0 ? advice : (advice?.replace(deliveryAdvice, adviceWithLinks) ?? null);
    return {
      ...finding,
      says: asSentence(says.replaceAll(timestamp, '$1 $2 UTC')),
      advice: told?.replaceAll('`GET /logs`', 'the access log').replaceAll('`', '') ?? null,
      webhooks,
    };
  });
}

/** Returns the webhooks that the session may open. */
async function ownWebhooks({ vault, contextAs }: Visit): Promise<Shown['webhooks']> {
  const context = contextAs('management', 'webhook:read');
  if (context === null) return [];
  const found = await orNull(vault, () => listWebhooks(vault, context.caller.tenantId));
  return (found ?? []).map(({ id }) => ({ id, path: `/webhooks/${id}` }));
}

/** Formats text as a sentence. If the text begins with an id, its first letter stays as it is. */
function asSentence(says: string): string {
  return /^[a-z]+(?:[\s:,;]|$)/.test(says) ? sentence(says) : says;
}
