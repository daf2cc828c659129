import type { Caller } from '../../domain/access/caller.js';
import { transformFor } from '../../domain/access/decide-access.js';
import { fillTemplate, type Shown } from '../../domain/detokenize/fill-template.js';
import { nameable } from '../../domain/detokenize/nameable.js';
import type { Template } from '../../domain/detokenize/parse-template.js';
import type { Json } from '../../domain/json.js';
import { Secret } from '../../domain/secret.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { type ReadContext, recordReads, type ShownToken } from '../access-log/record-reads.js';
import { chargeUnknownIds } from '../limits/unknown-ids.js';
import { type CommandResult, done, invalidFields, type Rejected, rejected } from '../result.js';
import { tenantKeysOf } from '../tenant-keys.js';
import type { Vault } from '../vault.js';
import { type ReadToken, readToken } from './read-token.js';
import { shownToken } from './shown-token.js';

/**
 * Puts the values of tokens where a body names them, under the transform of the rule that decides `token:use`
 * (contract, section 9). All ids are known and allowed before anything is evaluated; and the access log has every token
 * before that, because what cannot be evaluated tells of a value too.
 */
export async function detokenize(
  vault: Vault,
  context: ReadContext,
  template: Template,
): Promise<CommandResult<Secret<Json>>> {
  const { caller } = context;
  const read = await readAll(vault, caller, template);
  if (!read.ok) {
    await vault.confirmReads(context.beganAt, false);
    return read;
  }
  const shown = new Map<string, Shown>();
  const records: ShownToken[] = [];
  for (const [id, token] of read.value) {
    const transform = transformFor(caller, 'token:use', token.open.content.reveal().containers);
    if (transform === null) return rejected('forbidden');
    shown.set(id, shownToken(vault, caller, token, transform));
    records.push({ stream: token.view.stream, transform });
  }
  await recordReads(vault, context, records);
  const filled = fillTemplate(vault.expressions, template, (id) => {
    const token = shown.get(id);
    if (token === undefined) throw new Error('every id of a template was read');
    return token;
  });
  return filled.ok ? done(new Secret(filled.value)) : invalidFields(filled.errors);
}

async function readAll(
  vault: Vault,
  caller: Caller,
  { ids }: Template,
): Promise<CommandResult<ReadonlyMap<string, ReadToken>>> {
  const { tenantId } = caller;
  const { names } = await tenantKeysOf(vault, tenantId);
  const tokens = new Map<string, ReadToken>();
  const unknown: (readonly [id: string, path: string])[] = [];
  for (const [id, path] of ids) {
    const read = await readToken(vault, tenantId, tokenStream(names, id));
    if (read === null) unknown.push([id, path]);
    else tokens.set(id, read);
  }
  // Once the guesses are used up, known ids are refused as unknown ones are: else the refusal would tell them apart.
  const refusal = await chargeUnknownIds(vault, caller, ids.size, unknown.length);
  if (refusal !== null) return refusal;
  return unknown.length === 0 ? done(tokens) : unknownIds(unknown);
}

function unknownIds(unknown: readonly (readonly [id: string, path: string])[]): Rejected {
  const errors = new Map<string, string[]>();
  for (const [id, path] of unknown) {
    const message = nameable(id) ? `names an unknown token: ${id}` : 'names an unknown token';
    errors.set(path, [...(errors.get(path) ?? []), message]);
  }
  return invalidFields(Object.fromEntries(errors));
}
