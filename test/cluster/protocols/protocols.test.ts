import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { atEveryStep, type Prepare, type Tokens } from './every-step.js';
import { type Answer, type Cluster, openProcesses, type TokenBody } from './processes.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openProcesses();
});
afterAll(() => cluster.close());

const token = (name: string, given: JsonObject = {}) => ({
  type: 'token',
  data: randomUUID(),
  metadata: { case: name },
  ...given,
});
const ids = (tokens: Tokens) => tokens.map(({ id }) => id).sort();

/** Returns the body of a successful response. Throws if the response is not successful. */
function bodyOf(answer: Answer): TokenBody {
  expect(answer).toMatchObject({ ok: true });
  return (answer as { readonly value: TokenBody }).value;
}

function bodiesOf(answer: Answer): Tokens {
  expect(answer).toMatchObject({ ok: true });
  return (answer as { readonly value: Tokens }).value;
}

const idempotentCreate: Prepare = async (_, name) => {
  const command = { do: 'create', key: name, request: token(name) };
  return {
    first: command,
    second: command,
    verify({ first, second, again, lists }) {
      const { id } = bodyOf(second);
      for (const answer of [first, again]) if (answer?.ok) expect(bodyOf(answer).id).toBe(id);
      expect(bodyOf(again).id).toBe(id);
      expect([ids(lists.atAnswer), ids(lists.atEnd)]).toEqual([[id], [id]]);
    },
  };
};

const idempotentPatch: Prepare = async (ask, name) => {
  const { id } = await ask<TokenBody>({ do: 'create', request: token(name) });
  const data = randomUUID();
  const command = { do: 'update', key: name, id, request: { data } };
  return {
    first: command,
    second: command,
    async verify({ first, second, again, lists, story }) {
      for (const answer of [second, again]) expect(bodyOf(answer)).toMatchObject({ id, data });
      if (first?.ok) expect(bodyOf(first)).toMatchObject({ id, data });
      for (const list of [lists.atAnswer, lists.atEnd]) expect(list).toMatchObject([{ id, data }]);
      const { types, livingKeys } = await story(id);
      expect(types.filter((type) => type === 'token.updated')).toHaveLength(1);
      expect(livingKeys).toBe(0);
    },
  };
};

const patch: Prepare = async (ask, name) => {
  const { id } = await ask<TokenBody>({ do: 'create', request: token(name) });
  const data = randomUUID();
  const command = { do: 'update', id, request: { data } };
  return {
    first: command,
    second: command,
    async verify({ second, again, lists, story }) {
      for (const answer of [second, again]) expect(bodyOf(answer)).toMatchObject({ id, data });
      for (const list of [lists.atAnswer, lists.atEnd]) expect(list).toMatchObject([{ id, data }]);
      expect((await story(id)).livingKeys).toBe(0);
    },
  };
};

const deduplicatedCreate: Prepare = async (_, name) => {
  const command = { do: 'create', request: token(name, { deduplicate_token: true }) };
  return {
    first: command,
    second: command,
    verify({ first, second, again, lists }) {
      const { id } = bodyOf(second);
      expect(bodyOf(again).id).toBe(id);
      if (first?.ok) expect(bodyOf(first).id).toBe(id);
      expect([ids(lists.atAnswer), ids(lists.atEnd)]).toEqual([[id], [id]]);
    },
  };
};

const deduplicatedUnderOneId: Prepare = async (_, name) => {
  const id = `own-${name}`;
  const same = token(name, { deduplicate_token: true });
  const command = { do: 'create', request: { ...same, id } };
  return {
    first: command,
    second: command,
    meanwhile: { do: 'create', request: same },
    verify({ first, second, meanwhile, again, lists }) {
      if (!second.ok) expect(second.code).toBe('id_in_use');
      for (const answer of [meanwhile, again]) expect(answer === null ? null : bodyOf(answer).id).toBe(id);
      if (first?.ok) expect(bodyOf(first).id).toBe(id);
      expect([ids(lists.atAnswer), ids(lists.atEnd)]).toEqual([[id], [id]]);
    },
  };
};

const ontoAnotherFingerprint: Prepare = async (ask, name) => {
  const { id, data: before } = await ask<TokenBody>({ do: 'create', request: token(name) });
  const data = randomUUID();
  return {
    first: { do: 'update', id, request: { data, deduplicate_token: true } },
    second: { do: 'create', request: token(name, { data, deduplicate_token: true }) },
    verify({ first, second, again, lists }) {
      const other = bodyOf(second).id;
      expect(bodyOf(again).id).toBe(other);
      if (first?.ok) expect(bodyOf(first)).toMatchObject({ id: other, data });
      for (const list of [lists.atAnswer, lists.atEnd]) {
        expect(ids(list.filter((one) => one['data'] === data))).toEqual([other]);
        const own = list.find((one) => one.id === id);
        expect(own).toMatchObject({ data: other === id ? data : before });
      }
    },
  };
};

const parts = (name: string) => [
  token(name, { id: `one-${name}` }),
  token(name, { id: `two-${name}` }),
  token(name, { id: `three-${name}`, deduplicate_token: true }),
];

const idempotentTokenize: Prepare = async (_, name) => {
  const command = { do: 'tokenize', key: name, requests: parts(name) };
  return {
    first: command,
    second: command,
    isFollowed: true,
    verify({ first, second, again, lists }) {
      const made = ids(bodiesOf(second));
      expect(made).toHaveLength(3);
      for (const answer of [first, again]) if (answer?.ok) expect(ids(bodiesOf(answer))).toEqual(made);
      expect(again.ok).toBe(true);
      expect([0, 3]).toContain(lists.atStop.length);
      expect([ids(lists.atAnswer), ids(lists.atEnd)]).toEqual([made, made]);
    },
  };
};

const tokenizeAlone: Prepare = async (_, name) => {
  const command = { do: 'tokenize', requests: parts(name) };
  return {
    first: command,
    second: command,
    passing: ['id_in_use'],
    isFollowed: true,
    verify({ first, second, lists }) {
      expect([0, 3]).toContain(lists.atStop.length);
      expect([0, 3]).toContain(lists.atAnswer.length);
      expect(lists.atEnd).toHaveLength(3);
      // Only one of the two processes created the token. The other process got an error.
      if (second.ok) expect(first?.ok ?? false).toBe(false);
      else expect(second.code).toBe('id_in_use');
    },
  };
};

const deduplicatedOntoBatch: Prepare = async (_, name) => {
  const data = randomUUID();
  const same = token(name, { data, deduplicate_token: true });
  return {
    first: { do: 'tokenize', requests: [token(name), same, token(name)] },
    second: { do: 'create', request: same },
    isFollowed: true,
    verify({ first, second, again, lists }) {
      const { id } = bodyOf(second);
      expect(bodyOf(again).id).toBe(id);
      for (const list of [lists.atAnswer, lists.atEnd]) {
        expect(ids(list.filter((one) => one['data'] === data))).toEqual([id]);
      }
      if (first?.ok) expect(ids(bodiesOf(first))).toContain(id);
      const others = lists.atEnd.filter((one) => one['data'] !== data);
      expect([0, 2]).toContain(others.length);
      if (first?.ok) expect(others).toHaveLength(2);
    },
  };
};

const deletion: Prepare = async (ask, name) => {
  const { id } = await ask<TokenBody>({ do: 'create', request: token(name) });
  const command = { do: 'delete', id };
  return {
    first: command,
    second: command,
    async verify({ first, second, again, lists, story }) {
      for (const answer of [first, second]) {
        if (answer !== null && !answer.ok) expect(answer.code).toBe('token_not_found');
      }
      expect(again).toEqual({ ok: false, code: 'token_not_found' });
      expect([lists.atAnswer, lists.atEnd]).toEqual([[], []]);
      expect((await story(id)).livingKeys).toBe(0);
    },
  };
};

const deletionAndNextLife: Prepare = async (ask, name) => {
  const { id } = await ask<TokenBody>({ do: 'create', request: token(name) });
  const next = token(name, { id, deduplicate_token: true });
  return {
    first: { do: 'delete', id },
    second: { do: 'create', request: next },
    meanwhile: { do: 'create', request: token(name, { data: next.data, deduplicate_token: true }) },
    verify({ first, second, meanwhile, lists }) {
      if (first !== null) expect(first.ok).toBe(true);
      if (second.ok) expect(meanwhile === null ? null : bodyOf(meanwhile).id).toBe(id);
      else expect(second.code).toBe('id_in_use');
      const living = lists.atEnd.filter(({ data }) => data === next.data);
      expect(living).toHaveLength(1);
      if (second.ok) expect(ids(living)).toEqual([id]);
    },
  };
};

const deletionOfMany: Prepare = async (ask, name) => {
  const made: string[] = [];
  for (const _ of [1, 2, 3]) made.push((await ask<TokenBody>({ do: 'create', request: token(name) })).id);
  const command = { do: 'deleteMany', ids: made };
  return {
    first: command,
    second: command,
    async verify({ second, lists, story }) {
      expect(second).toMatchObject({ ok: true, value: { refused: 0, remaining: 0 } });
      expect([lists.atAnswer, lists.atEnd]).toEqual([[], []]);
      for (const id of made) expect((await story(id)).livingKeys).toBe(0);
    },
  };
};

const cleared =
  (prepare: Prepare): Prepare =>
  async (ask, name) => ({ ...(await prepare(ask, name)), isCleared: true });

const commands = {
  'a create with an idempotency key': idempotentCreate,
  'a PATCH with an idempotency key': idempotentPatch,
  'a PATCH': patch,
  'a create with deduplication': deduplicatedCreate,
  'a create with deduplication under its own id': deduplicatedUnderOneId,
  'an update onto another fingerprint': ontoAnotherFingerprint,
  'a tokenize with an idempotency key': idempotentTokenize,
  'a tokenize': tokenizeAlone,
  'a tokenize whose value another process creates with deduplication': deduplicatedOntoBatch,
  'a create with deduplication whose claim the leader removes': cleared(deduplicatedCreate),
  'an update onto another fingerprint whose claim the leader removes': cleared(ontoAnotherFingerprint),
  'a tokenize with deduplication whose claim the leader removes': cleared(deduplicatedOntoBatch),
  'a delete': deletion,
  'a delete whose id another process reuses': deletionAndNextLife,
  'a delete of many tokens': deletionOfMany,
};

// The second process cannot distinguish a stopped process from a killed one. The stopped process resumes only after all
// checks.
test.each(Object.entries(commands))(
  'a process that is paused between any two steps of %s and resumed later does no harm',
  (_, prepare) => everyStep('SIGSTOP', prepare),
);

// Killing a process also breaks its connections, so none of its calls can arrive late. Each step uses a new process.
test.each([
  'a create with an idempotency key',
  'a create with deduplication',
  'a tokenize with an idempotency key',
  'a delete',
] as const)('a process that is killed between any two steps of %s does no harm', (name) =>
  everyStep('SIGKILL', commands[name]),
);

async function everyStep(signal: 'SIGKILL' | 'SIGSTOP', prepare: Prepare): Promise<void> {
  expect(await atEveryStep(cluster, signal, prepare)).toBeGreaterThan(4);
}
