import { isJsonObject, type Json } from '../../domain/json.js';
import type { ConsolePage } from '../page.js';

/** Runs every `strongroom doctor` check in the background and shows the findings. */
export const checksPage: ConsolePage = {
  menu: { label: 'Checks', group: 'Operations' },
  routes: [
    {
      method: 'GET',
      path: '/checks',
      session: 'operator',
      handle: (visit) => {
        const task = visit.tasks.state('checks');
        const findings = task.state === 'ended' ? findingsIn(task.value) : [];
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

/** Parses the findings from the `diagnose` operation and lists problems first. */
function findingsIn(value: Json) {
  const given = isJsonObject(value) ? value['findings'] : [];
  const findings = (Array.isArray(given) ? given : []).filter(isJsonObject).map((finding) => ({
    check: String(finding['check']),
    isGood: finding['state'] !== 'problem',
    says: String(finding['says']),
    advice: typeof finding['do'] === 'string' ? finding['do'] : null,
  }));
  return [...findings.filter(({ isGood }) => !isGood), ...findings.filter(({ isGood }) => isGood)];
}
