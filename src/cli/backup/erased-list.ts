import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ErasedKeys, KeysToCopy } from '../../ports/backup.js';
import { Failure } from '../failure.js';
import { jsonOf } from './manifest.js';

const head = z.object({ format: z.literal('strongroom erased keys 1'), log_id: z.string(), made_at: z.iso.datetime() });
const end = 'end';

/** The list as lines of text: what it is, one id a line, and how many there are, so that one that was cut off is told. */
export async function* erasedLines(keys: KeysToCopy): AsyncGenerator<string> {
  const madeAt = new Date().toISOString();
  yield `${JSON.stringify({ format: 'strongroom erased keys 1', log_id: await keys.logId(), made_at: madeAt })}\n`;
  let count = 0;
  for await (const id of keys.erased()) {
    count += 1;
    yield `${id}\n`;
  }
  yield `${end} ${count}\n`;
}

/** Reads a list that is whole. Throws Failure. */
export async function readErasedList(file: string): Promise<ErasedKeys & { readonly logId: string }> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${file} cannot be read (${error.code ?? 'unknown reason'}).`);
  });
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const parsed = head.safeParse(jsonOf(first));
  const ids = lines.slice(0, -1);
  if (!parsed.success || lines.at(-1) !== `${end} ${ids.length}`) {
    throw new Failure(`${file} is not a whole list of erased keys.`);
  }
  return { ids: new Set(ids), madeAt: Date.parse(parsed.data.made_at), logId: parsed.data.log_id };
}
