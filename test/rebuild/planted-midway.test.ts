import { expect, test } from 'vitest';
import { packStream } from '#src/adapters/sqlite/database/packed-text.js';
import { checkTokenRows } from '#src/audit/check-rows.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { createPlain } from '../http/routes/support.js';
import { startTestService } from '../support/test-service.js';
import { endOfRebuild, openVault, rebuildTokens, storedIn } from './support.js';

const tokens = 250;
const secret = 'the-plaintext-of-the-token';

type Plant = {
  readonly what: string;
  /** True if the planted row has an older revision. The rebuild replaces such a row. */
  readonly isReplaced: boolean;
  readonly edit: (row: Record<string, unknown>) => Record<string, unknown>;
};

const plants: readonly Plant[] = [
  { what: 'with its state from before its container was closed', isReplaced: true, edit: (row) => row },
  {
    what: 'with its earlier state, under the newest revision',
    isReplaced: false,
    edit: (row) => ({ ...row, revision: 1 }),
  },
  {
    what: 'with its earlier state, under a revision that it never reaches',
    isReplaced: false,
    edit: (row) => ({ ...row, revision: 99 }),
  },
];

test.each(plants)(
  'a row that an attacker plants into the rebuilt rows $what shows nothing',
  async ({ edit, isReplaced }) => {
    const service = await startTestService();
    const { id } = await createPlain(service, { data: secret, containers: ['/open/'] });
    const reader = await service.application([
      {
        description: 'open',
        priority: 1,
        container: '/open/',
        transform: 'reveal',
        permissions: ['token:read', 'token:search'],
      },
    ]);
    expect((await service.call('GET', `/tokens/${id}`, undefined, { key: reader })).text).toContain(secret);
    const keys = await service.vault.keys.tenantKeys(service.tenantId);
    if (keys === null) throw new Error('the tenant has no keys');
    const stream = tokenStream(keys.names, id);
    const vault = openVault(service.dataDir);
    const older = vault.prepare('SELECT * FROM token_rows_1 WHERE stream = ?').get(packStream(stream)) as Record<
      string,
      unknown
    >;
    const closed = await service.call('PATCH', `/tokens/${id}`, { containers: ['/closed/'] });
    expect(closed.status, closed.text).toBe(200);
    for (let made = 0; made < tokens; made += 1) await createPlain(service);

    const row = edit(older);
    const names = Object.keys(row);
    const plant = vault.prepare(
      `REPLACE INTO token_rows_0 (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
    );
    async function expectNothingShown(): Promise<void> {
      for (const answer of [
        await service.call('GET', `/tokens/${id}`, undefined, { key: reader }),
        await service.call('GET', '/tokens', undefined, { key: reader }),
        await service.call('POST', '/tokens/search', { query: '' }, { key: reader }),
      ]) {
        expect(answer.text).not.toContain(secret);
      }
    }

    if (isReplaced) {
      await service.service.projections.rebuild('tokens', false);
      plant.run(row);
      expect(await endOfRebuild(service)).toMatchObject({ outcome: 'done', different: 0 });
      await expectNothingShown();
      expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({
        data: secret,
        containers: ['/closed/'],
      });
      vault.close();
      await service.close();
      return;
    }

    // Without `acceptNew`, the rebuild does not switch to rows that differ from the current rows.
    await service.service.projections.rebuild('tokens', false);
    plant.run(row);
    expect(await endOfRebuild(service)).toEqual({ outcome: 'different', different: 1, examples: [stream] });
    expect(storedIn(service.dataDir).generations).toEqual([{ generation: 1, state: 'read' }]);
    await expectNothingShown();
    expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({ data: secret, containers: ['/closed/'] });

    // If the operator accepts the new rows, they include the planted row. The vault then rejects that row, as it would
    // reject one that was planted in the current rows.
    await service.service.projections.rebuild('tokens', true);
    plant.run(row);
    expect(await endOfRebuild(service)).toMatchObject({ outcome: 'done', different: 1 });
    await expectNothingShown();
    const own = await service.call('GET', `/tokens/${id}`);
    expect([own.status, own.body['code']]).toEqual([500, 'row_forged']);
    const found: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await checkTokenRows(service.vault, after);
      found.push(...page.problems.map(({ row: { name } }) => name));
      after = page.next;
    }
    expect(found).toEqual([stream]);

    // The next rebuild replaces the planted row with a correct one.
    expect(await rebuildTokens(service, true)).toMatchObject({ outcome: 'done', different: 1, examples: [stream] });
    expect((await service.call('GET', `/tokens/${id}`)).body).toMatchObject({ data: secret, containers: ['/closed/'] });
    vault.close();
    await service.close();
  },
);
