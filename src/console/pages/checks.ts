import { isJsonObject, type Json, type JsonObject } from '../../domain/json.js';
import { backup } from '../../queries/findings/service-findings.js';
import type { ConsolePage, Visit } from '../page.js';
import { shownFindings } from '../shown-findings.js';

/** Runs the checks of `strongroom doctor` that examine the stores, in the background, and shows the findings. */
export const checksPage: ConsolePage = {
  menu: { label: 'Checks', group: 'Operations' },
  routes: [
    {
      method: 'GET',
      path: '/checks',
      session: 'operator',
      handle: async (visit) => {
        const task = visit.tasks.state('checks');
        const found = task.state === 'ended' ? findingsIn(task.value, await newestBackup(visit)) : [];
        const findings = await shownFindings(visit, found);
        return visit.page('checks', { task, findings }, { title: 'Checks', isRunning: task.state === 'running' });
      },
    },
    {
      method: 'POST',
      path: '/checks',
      session: 'operator',
      handle: async (visit) => {
        visit.tasks.start('checks', () => visit.operations.run('diagnose', { fix: false }));
        return visit.redirect('/checks');
      },
    },
  ],
};

/**
 * Returns the finding about the newest backup. Only a running service has this information, so `strongroom doctor` does
 * not check it.
 */
async function newestBackup({ service, vault }: Visit): Promise<JsonObject> {
  return { ...backup(await service.state(), vault.clock.now()) };
}

const tones = { problem: 'bad', note: 'warn', good: 'good' } as const;

/**
 * Parses the findings of the `diagnose` operation and adds `other`. In the result, problems come first, and notes come
 * second.
 */
function findingsIn(value: Json, other: JsonObject) {
  const given = isJsonObject(value) ? value['findings'] : [];
  const findings = [...(Array.isArray(given) ? given : []), other].filter(isJsonObject).map((finding) => ({
    check: String(finding['check']),
    level: finding['state'] === 'problem' || finding['state'] === 'note' ? finding['state'] : 'good',
    says: String(finding['says']),
    advice: typeof finding['do'] === 'string' ? finding['do'] : null,
  }));
  return (['problem', 'note', 'good'] as const).flatMap((level) =>
    findings.filter((one) => one.level === level).map((one) => ({ ...one, tone: tones[level] })),
  );
}
