import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { hourlyCheckpoints, listHourlyCheckpoints, signedPart } from '../../audit/list-checkpoints.js';
import { type Checked, type FieldErrors, invalid, valid } from '../../domain/field-errors.js';
import { isJsonObject } from '../../domain/json.js';
import { formatTimestamp } from '../../domain/time.js';
import { rangeOf } from '../../http/pagination.js';
import { Problem } from '../../http/problem/problem.js';
import type { Vault } from '../../vault/vault.js';
import { type BundleOwner, bundleMs } from '../bundles.js';
import type { BundleScope } from '../operations.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageLinks, pageNumber } from '../pagination.js';
import type { TaskState } from '../tasks.js';
import { firstErrors } from '../typed-form.js';
import { parseTypedTime } from '../typed-time.js';

const pageSize = 20;
const idsMax = 1_000;
/**
 * The maximum number of lines, including empty and repeated ones. Threat: a client posts a million lines, and reading
 * them stalls all callers.
 */
const linesMax = 10 * idsMax;

const time = z
  .string()
  .default('')
  .transform((given) => given.trim());
const bundleForm = z.object({ ids: z.string().default(''), from: time, to: time });

/** Shows the signed checkpoints and the public key, and creates evidence bundles for auditors. */
export const evidencePage: ConsolePage = {
  menu: { label: 'Evidence', group: 'Audit' },
  routes: [
    {
      method: 'GET',
      path: '/evidence',
      session: 'management',
      permission: 'log:read',
      handle: (visit) => show(visit),
    },
    {
      method: 'POST',
      path: '/evidence/bundle',
      session: 'management',
      permission: 'log:read',
      handle: makeBundle,
    },
    {
      method: 'GET',
      path: '/evidence/bundle',
      session: 'management',
      permission: 'log:read',
      handle: showBundle,
    },
    {
      method: 'GET',
      path: '/evidence/bundle.zip',
      isFile: true,
      session: 'management',
      permission: 'log:read',
      handle: sendBundle,
    },
    {
      method: 'GET',
      path: '/evidence/checkpoints.jsonl',
      isFile: true,
      session: 'management',
      permission: 'log:read',
      async handle(visit) {
        await recordManagementRead(visit.vault, visit.context, 'log', null);
        const lines = () => Readable.from(checkpointLines(visit.vault), { objectMode: false });
        return visit.file('checkpoints.jsonl', 'application/jsonl; charset=utf-8', lines);
      },
    },
    {
      method: 'GET',
      path: '/evidence/audit.pub',
      isFile: true,
      session: 'any',
      async handle(visit) {
        const { publicKey } = await visit.vault.keys.signingKey();
        return visit.file('audit.pub', 'application/x-pem-file', publicKey);
      },
    },
  ],
};

/**
 * Verifies the whole log in the background. Only operators may run the verification, because all tenants share the log.
 */
export const verificationPage: ConsolePage = {
  menu: { label: 'Verification', group: 'Audit' },
  routes: [
    {
      method: 'GET',
      path: '/verification',
      session: 'operator',
      handle: async (visit) => {
        const task = visit.tasks.state('verification');
        const anchored = await visit.vault.keys.checkpoint('anchor');
        const { checkpoints } = await listHourlyCheckpoints(visit.vault.log, { offset: 0, limit: 1 });
        const newest = checkpoints[0]?.number ?? 0;
        const model = { task: taskShown(task), anchored, newest };
        return visit.page('verification', model, { title: 'Verification', isRunning: task.state === 'running' });
      },
    },
    {
      method: 'POST',
      path: '/verification',
      session: 'operator',
      handle: async (visit) => {
        visit.tasks.start('verification', visit.operations.verify);
        return visit.redirect('/verification');
      },
    },
  ],
};

type Shown = { readonly status?: number; readonly typed?: z.output<typeof bundleForm>; readonly errors?: FieldErrors };

async function show(
  visit: Visit,
  { status = 200, typed = { ids: '', from: '', to: '' }, errors = {} }: Shown = {},
): Promise<FastifyReply> {
  const { vault, context } = visit;
  const page = { page: pageNumber(visit), size: pageSize };
  const { checkpoints, total } = await listHourlyCheckpoints(vault.log, rangeOf(page));
  await recordManagementRead(vault, context, 'log', null);
  const model = {
    checkpoints: checkpoints.map((checkpoint) => ({ at: checkpoint.time, ...signedPart(checkpoint) })),
    links: pageLinks(page, total),
    publicKey: (await vault.keys.signingKey()).publicKey,
    isOperator: visit.session.isOperator,
    hasBundle: visit.bundles.state(ownerOf(visit)).state !== 'none',
    typed,
    errors: firstErrors(errors, ['ids', 'from', 'to']),
    idsMax,
  };
  return visit.page('evidence', model, { title: 'Evidence', status });
}

async function* checkpointLines({ log }: Pick<Vault, 'log'>): AsyncIterable<string> {
  for await (const page of hourlyCheckpoints(log)) {
    yield page.map((checkpoint) => `${JSON.stringify(signedPart(checkpoint))}\n`).join('');
  }
}

/** Starts making a bundle. The work runs in the background, because it may read the whole log. */
async function makeBundle(visit: Visit): Promise<FastifyReply> {
  const form = visit.form(bundleForm);
  if (!form.ok) return show(visit, { status: 400, errors: form.errors });
  const scope = scopeOf(form.value, visit.session.isOperator ? 'state' : 'reject');
  if (!scope.ok) return show(visit, { status: 400, typed: form.value, errors: scope.errors });
  const { bundles, operations, caller } = visit;
  const started = await bundles.start(ownerOf(visit), (onProgress) =>
    operations.bundle(caller, scope.value, onProgress),
  );
  if (started === 'busy') {
    const ids = ['another bundle of this tenant is being created; try again when it is ready'];
    return show(visit, { status: 409, typed: form.value, errors: { ids } });
  }
  return visit.redirect('/evidence/bundle');
}

async function showBundle(visit: Visit): Promise<FastifyReply> {
  const task = visit.bundles.state(ownerOf(visit));
  const model = { task: taskShown(task), keptMinutes: bundleMs / 60_000 };
  return visit.page('bundle', model, { title: 'Bundle of evidence', isRunning: task.state === 'running' });
}

async function sendBundle(visit: Visit): Promise<FastifyReply> {
  const bundle = visit.bundles.find(ownerOf(visit));
  if (bundle === null) throw new Problem('not_found');
  const { folder, files } = bundle;
  await recordManagementRead(visit.vault, visit.context, 'log', null, 'evidence bundle downloaded');
  const day = formatTimestamp(visit.vault.clock.now()).slice(0, 10);
  return visit.file(`evidence-${day}.zip`, 'application/zip', () => {
    const zip = new ZipFile();
    for (const file of files) zip.addFile(join(folder, file), `evidence/${file}`);
    // A file may have been removed since the download began. The resulting error must abort the download, but not the
    // process.
    zip.on('error', (error) => zip.outputStream.emit('error', error));
    zip.end();
    return zip.outputStream;
  });
}

function ownerOf({ session, caller }: Visit): BundleOwner {
  return { sessionId: session.id, tenantId: caller.tenantId };
}

/** Returns the scope of the bundle, or the errors in the form. */
function scopeOf(
  { ids: text, from, to }: z.output<typeof bundleForm>,
  erasures: BundleScope['erasures'],
): Checked<BundleScope> {
  const lines = text.split(/\r?\n/, linesMax + 1);
  if (lines.length > linesMax) return invalid('ids', `must contain at most ${idsMax} ids`);
  const ids = [...new Set(lines.map((id) => id.trim()))].filter((id) => id !== '');
  const isPeriod = from !== '' || to !== '';
  if (ids.length > 0 === isPeriod) return invalid('ids', 'enter either token ids or a period');
  if (ids.length > idsMax) return invalid('ids', `must contain at most ${idsMax} ids`);
  if (!isPeriod) return valid({ ids, from: null, to: null, erasures });
  const [begin, end] = [parseTypedTime(from), parseTypedTime(to)];
  if (begin === null) return invalid('from', 'must be a date or a date-time');
  if (end === null) return invalid('to', 'must be a date or a date-time');
  if (end <= begin) return invalid('to', 'must be after the start');
  return valid({ ids: null, from: begin, to: end, erasures });
}

/** Returns the state of a verification or of a bundle in the form that the page needs. */
function taskShown(task: TaskState) {
  if (task.state === 'running') {
    return { ...task, percent: task.total === 0 ? null : Math.floor((task.done / task.total) * 100) };
  }
  if (task.state !== 'ended' || !isJsonObject(task.value)) return task;
  return { ...task, isGood: task.value['ok'] === true, lines: String(task.value['text']).split('\n') };
}
