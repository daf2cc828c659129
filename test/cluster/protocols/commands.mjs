import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { createToken, createTokens } from '#src/commands/tokens/create-tokens.js';
import { deleteByIds } from '#src/commands/tokens/delete-by-ids.js';
import { deleteToken } from '#src/commands/tokens/delete-token.js';
import { updateToken } from '#src/commands/tokens/update-token.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { finish } from '#src/domain/steps.js';
import { getToken } from '#src/queries/get-token.js';
import { listTokens } from '#src/queries/offset-pages.js';
import { release } from '#src/queries/release.js';

const rules = [{ description: '', priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }];
const tenantSettings = { deduplicate_tokens: 'false', keep_superseded_data: 'false', show_fingerprints: 'false' };
const done = (value) => ({ ok: true, value });
const answer = async (result, show) => (result.ok ? done(await show(result.value)) : { ok: false, code: result.code });

/** Returns the commands accepted by a process. All results of these commands can be sent as JSON. */
export function commandsOn(vault) {
  // The access log is not part of the protocols under test. Its records are dropped, so that writing them does not add
  // steps.
  const unrecorded = { ...vault, recorder: { now: async () => undefined, soon: () => undefined } };
  const shownTo = (given) => async (token) => {
    const render = await release(unrecorded, contextOf(given), [token]);
    return { ...finish(render(token)), revision: token.revision };
  };
  const contextOf = ({ tenantId, key = null }, method, path) => ({
    caller: {
      tenantId,
      applicationId: 'app',
      keyId: 'key',
      applicationType: 'private',
      tenantSettings,
      access: { kind: 'rules', rules },
    },
    traceId: 'trace',
    beganAt: performance.now(),
    idempotency: key === null ? null : { method, path, key },
  });
  return {
    async tenant() {
      return done((await createTenant(vault, 'protocols', [])).tenantId);
    },
    async create(given) {
      return answer(await createToken(vault, contextOf(given, 'POST', '/tokens'), given.request), shownTo(given));
    },
    async update(given) {
      const context = contextOf(given, 'PATCH', `/tokens/${given.id}`);
      return answer(await updateToken(vault, context, given.id, given.request, null), shownTo(given));
    },
    async delete(given) {
      return answer(await deleteToken(vault, contextOf(given), given.id, null), () => null);
    },
    async deleteMany(given) {
      return answer(await deleteByIds(vault, contextOf(given), given.ids), (counts) => counts);
    },
    async tokenize(given) {
      const parts = given.requests.map((request, index) => ({ request, path: `[${index}]`, isValue: false }));
      const made = await createTokens(vault, contextOf(given, 'POST', '/tokenize'), parts);
      return answer(made, (tokens) => Promise.all(tokens.map(shownTo(given))));
    },
    async get(given) {
      return answer(await getToken(vault, contextOf(given), given.id), shownTo(given));
    },
    /** Returns all live tokens of one case. */
    async list(given) {
      const filters = { ids: null, types: null, metadata: [['case', given.case]] };
      const { tokens } = await listTokens(vault, contextOf(given), filters, { offset: 0, limit: 100 });
      return done(await Promise.all(tokens.map(shownTo(given))));
    },
  };
}
