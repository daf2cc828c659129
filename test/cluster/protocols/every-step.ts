import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type Answer, type Cluster, type Command, type Process, type TokenBody, waits } from './processes.js';

/** The commands of two processes, and a check that must pass wherever the first process was stopped. */
export type Race = {
  readonly first: Command;
  readonly second: Command;
  /** The command that the second process runs next, while the first process is still stopped. */
  readonly meanwhile?: Command;
  /**
   * If true, the runner completes the first process's unfinished work before the second process acts. Otherwise, it
   * does so at the end.
   */
  readonly isFollowed?: true;
  /** If true, the leader removes the first process's fingerprint claim before the second process acts. */
  readonly isCleared?: true;
  /** Error codes that make the second process retry, because the first process's work may not be settled yet. */
  readonly passing?: readonly string[];
  verify(seen: Seen): Promise<void> | void;
};

export type Seen = {
  /** The result of the first command, or null if the first process was killed before it could respond. */
  readonly first: Answer | null;
  readonly second: Answer;
  readonly meanwhile: Answer | null;
  /** The result of the second command when it is repeated after all work has settled. */
  readonly again: Answer;
  /**
   * The live tokens of this case at three moments: after the first process stopped, after the second process responded,
   * and at the end.
   */
  readonly lists: { readonly atStop: Tokens; readonly atAnswer: Tokens; readonly atEnd: Tokens };
  /**
   * Returns the types of a token's events. `livingKeys` counts the keys that these events mark for destruction but that
   * still existed when the second process responded.
   */
  story(id: string): Promise<{ readonly types: readonly string[]; readonly livingKeys: number }>;
};

export type Tokens = readonly TokenBody[];

/**
 * Creates the tokens that both processes need. `name` is unique. Every token of the case has this name in its metadata,
 * under the key `case`.
 */
export type Prepare = (ask: Ask, name: string) => Promise<Race>;
export type Ask = <T>(command: Command) => Promise<T>;

const limitMs = 20_000;
const lanes = 3;

/**
 * Runs the case repeatedly. Each run stops the first process before a different store call, until a run reaches the end
 * of the command. After each stop, the second process acts and the result is checked. Returns the number of store
 * calls.
 */
export async function atEveryStep(cluster: Cluster, signal: 'SIGKILL' | 'SIGSTOP', prepare: Prepare): Promise<number> {
  const seconds = await Promise.all(Array.from({ length: lanes }, () => cluster.process()));
  const firsts: (Process | null)[] = seconds.map(() => null);
  for (let at = 1; ; at += lanes) {
    const ended = await Promise.all(
      seconds.map(async (second, lane) => {
        const first = firsts[lane] ?? (await cluster.process());
        const { wasStopped } = await oneStop(cluster, { first, second }, { at: at + lane, signal }, prepare);
        // A paused process resumes, so the next case can reuse it. A killed process cannot be reused.
        firsts[lane] = wasStopped && signal === 'SIGKILL' ? null : first;
        return wasStopped ? null : at + lane - 1;
      }),
    );
    const calls = ended.find((count) => count !== null);
    if (calls === undefined || calls === null) continue;
    const [second] = seconds;
    if (second === undefined) throw new Error('there are lanes');
    await ask(second, { do: 'work' });
    expect(await ask(second, { do: 'faults' })).toEqual([]);
    for (const one of [...seconds, ...firsts]) if (one !== null) cluster.giveBack(one);
    return calls;
  }
}

type Pair = { readonly first: Process; readonly second: Process };

async function oneStop(
  { tenantId }: Cluster,
  { first, second }: Pair,
  stop: { readonly at: number; readonly signal: 'SIGKILL' | 'SIGSTOP' },
  prepare: Prepare,
): Promise<{ readonly wasStopped: boolean }> {
  const name = `${stop.signal}-${stop.at}-${randomUUID()}`;
  const asked = <T>(command: Command) => ask<T>(second, { tenantId, ...command });
  const list = () => asked<Tokens>({ do: 'list', case: name });
  const race = await prepare(asked, name);
  try {
    const came = await first.run({ tenantId, ...race.first }, stop);
    if (race.isFollowed) await asked({ do: 'follow' });
    if (race.isCleared) await asked({ do: 'clear' });
    const atStop = await list();
    const go = (command: Command) => persist(second, { tenantId, ...command }, race.passing ?? []);
    const secondAnswer = await go(race.second);
    const meanwhile = race.meanwhile === undefined ? null : await go(race.meanwhile);
    const atAnswer = await list();
    const story = await storiesOf(asked, [...atStop, ...atAnswer]);
    const firstAnswer = came === 'stopped' ? await first.wake() : came === 'killed' ? null : came;
    await asked({ do: 'work' });
    const again = await go(race.second);
    const atEnd = await list();
    const lists = { atStop, atAnswer, atEnd };
    const told = async (id: string) => story.get(id) ?? asked<Story>({ do: 'story', id });
    await race.verify({ first: firstAnswer, second: secondAnswer, meanwhile, again, lists, story: told });
    return { wasStopped: typeof came === 'string' };
  } catch (error) {
    throw new Error(`${stop.signal} before call ${stop.at}: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
}

type Story = { readonly types: readonly string[]; readonly livingKeys: number };

async function storiesOf(asked: Ask, tokens: Tokens): Promise<ReadonlyMap<string, Story>> {
  const stories = new Map<string, Story>();
  for (const { id } of tokens) stories.set(id, await asked<Story>({ do: 'story', id }));
  return stories;
}

async function ask<T>(process: Process, command: Command): Promise<T> {
  const answer = await persist(process, command, []);
  if (!answer.ok) throw new Error(`${command.do}: ${JSON.stringify(answer)}`);
  return answer.value as T;
}

/**
 * Repeats a command while the response asks for a retry, as a caller would. Fails if the retries take longer than the
 * vault promises.
 */
async function persist(process: Process, command: Command, passing: readonly string[]): Promise<Answer> {
  const since = performance.now();
  for (;;) {
    const sentMs = performance.now() - since;
    const answer = await process.run(command);
    if (typeof answer === 'string') throw new Error(`the second process was ${answer}`);
    const spentMs = performance.now() - since;
    const comesAgain = !answer.ok && ['idempotency_in_flight', 'unavailable', ...passing].includes(answer.code);
    if (!comesAgain) return answer;
    if (!answer.ok && answer.code === 'idempotency_in_flight') expect(sentMs).toBeLessThan(waits.claimMs + 2_000);
    if (passing.includes(answer.code) && spentMs > waits.batchMs + 1_000) return answer;
    expect(spentMs).toBeLessThan(limitMs);
    if (passing.length > 0) await ask(process, { do: 'work' });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
