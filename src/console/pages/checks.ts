import { isJsonObject, type Json } from '../../domain/json.js';
import type { ConsolePage } from '../page.js';
import { refreshWhile } from '../refresh.js';

/** Runs all checks of `strongroom doctor` in the background, and shows the findings. */
export const checksPage: ConsolePage = {
  menu: { label: 'Checks', group: 'Operations' },
  routes: [
    {
      method: 'GET',
      path: '/checks',
      session: 'operator',
      handle: (visit) => {
        const task = visit.tasks.state('checks');
        refreshWhile(task.state === 'running', visit.reply);
        const findings = task.state === 'ended' ? findingsIn(task.value) : [];
        return visit.page('checks', { task, findings }, { title: 'Checks' });
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

/** Parses the findings of the `diagnose` operation. Returns problems first. */
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
