import fc from 'fast-check';
import { expect, test } from 'vitest';
import { managementPermissions } from '#src/domain/access/permission.js';
import type { Actor } from '#src/domain/tenancy/actor.js';
import { heldManagementPermissions, isLastingAdministrator } from '#src/domain/tenancy/administrators.js';
import { decideDirectory } from '#src/domain/tenancy/decide-directory.js';
import type { DirectoryCommand } from '#src/domain/tenancy/directory-command.js';
import { evolveDirectory, type TenantDirectory } from '#src/domain/tenancy/tenant-directory.js';
import { as, at, create, directoryAfter, issue, manager, reader, tenant, update } from './support.js';

// There are few ids, and 'a' occurs more often than the others, so many commands are accepted.
const id = fc.constantFrom('a', 'a', 'b', 'c', 'd');
const permissions = fc.uniqueArray(fc.constantFrom(...managementPermissions), { minLength: 1, maxLength: 9 });
const expiry = fc.constantFrom(null, null, at + 1_000_000, undefined);
const keyId = fc.tuple(id, fc.integer({ min: 1, max: 5 })).map(([owner, number]) => `${owner}-${number}`);

const command: fc.Arbitrary<DirectoryCommand> = fc.oneof(
  fc.tuple(id, permissions, expiry).map(([of, held, expiresAt = null]) => create(of, { ...manager(held), expiresAt })),
  id.map((of) => create(of, reader)),
  fc.tuple(id, permissions, expiry).map(([of, held, expiresAt]) => update(of, held, { expiresAt })),
  id.map((of) => update(of, ['token:use'])),
  id.map((of) => ({ kind: 'delete_application', id: of }) as const),
  fc.tuple(id, keyId).map(([of, key]) => issue(of, key)),
  fc.tuple(id, keyId).map(([of, key]) => ({ kind: 'revoke_key', id: of, keyId: key }) as const),
);
const actor = fc.oneof(
  { weight: 5, arbitrary: id.map((who) => as(who)) },
  { weight: 1, arbitrary: fc.tuple(id, keyId).map(([who, key]) => as(who, key)) },
);
const step = fc.record({ actor, command });

const begin = directoryAfter(tenant, create('a', manager()), create('b', manager(['application:create'])));

function heldBy(directory: TenantDirectory, actor: Actor): readonly string[] {
  const application = actor.kind === 'operator' ? undefined : directory.applications.get(actor.applicationId);
  return application === undefined ? [] : heldManagementPermissions(application.access);
}

test('whatever applications try, one administrator remains, none gets four keys, and none changes more than it may', () => {
  let decidedCount = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), (steps) => {
      let directory = begin;
      for (const { actor: who, command: wanted } of steps) {
        // An id can be used only once, but the generator often draws an id again.
        if (wanted.kind === 'create_application' && directory.applications.has(wanted.id)) continue;
        const decided = decideDirectory(wanted, { actor: who, at }, directory);
        if (!decided.ok) continue;
        const after = decided.facts.reduce(evolveDirectory, directory);
        const holds = heldBy(directory, who);
        for (const fact of decided.facts) {
          decidedCount += 1;
          if (!('applicationId' in fact)) continue;
          for (const state of [directory, after]) {
            const touched = state.applications.get(fact.applicationId);
            const concerned = touched === undefined ? [] : heldManagementPermissions(touched.access);
            expect(concerned.filter((permission) => !holds.includes(permission))).toEqual([]);
          }
        }
        directory = after;
        expect([...directory.applications.values()].some(isLastingAdministrator)).toBe(true);
        for (const { keys } of directory.applications.values()) expect(keys.length).toBeLessThanOrEqual(3);
      }
    }),
    { numRuns: 300 },
  );
  expect(decidedCount, 'the commands must not all be refused').toBeGreaterThan(100);
});

test('a decision needs only the two applications that it involves and one other administrator', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), step, (steps, last) => {
      let directory = begin;
      for (const { actor: who, command: wanted } of steps) {
        if (wanted.kind === 'create_application' && directory.applications.has(wanted.id)) continue;
        const decided = decideDirectory(wanted, { actor: who, at }, directory);
        if (decided.ok) directory = decided.facts.reduce(evolveDirectory, directory);
      }
      if (last.command.kind === 'create_application' && directory.applications.has(last.command.id)) return;
      const target = 'id' in last.command ? last.command.id : '';
      const witness = [...directory.applications].find(
        ([other, document]) => other !== target && isLastingAdministrator(document),
      )?.[0];
      const needed = [target, last.actor.kind === 'application' ? last.actor.applicationId : '', witness];
      const part = new Map([...directory.applications].filter(([other]) => needed.includes(other)));
      const by = { actor: last.actor, at };
      expect(decideDirectory(last.command, by, { ...directory, applications: part })).toEqual(
        decideDirectory(last.command, by, directory),
      );
    }),
  );
});
