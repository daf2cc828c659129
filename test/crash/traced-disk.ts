import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chance } from './model.js';

const pageBytes = 4_096;
const sectorBytes = 512;

/** True if `strace` is installed and may trace processes. A container often may not. */
export const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/**
 * Returns the start of a command line that records, in a file, what a program writes to the disk and when it syncs. The
 * traced program remains the child process, so signals go to it. Its output ends when the record is complete.
 */
export function tracing(record: string): readonly string[] {
  const calls = 'openat,pwrite64,ftruncate,unlink,fsync,fdatasync';
  const format = ['-D', '-f', '--seccomp-bpf', '-xx', '-s', String(2 ** 24)];
  return ['strace', ...format, '-e', `trace=${calls}`, '-e', 'signal=none', '-o', record];
}

/** A change to a file: bytes at an offset, or a new size. */
type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number };

/** The content of a file. */
class Content {
  private bytes = Buffer.alloc(0);
  private size = 0;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.apply({ offset: 0, bytes });
  }

  apply(change: Change): void {
    const isWrite = 'bytes' in change;
    const size = isWrite ? Math.max(this.size, change.offset + change.bytes.length) : change.size;
    if (size > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * size);
    if (size < this.size) this.bytes.fill(0, size, this.size);
    if (isWrite) change.bytes.copy(this.bytes, change.offset);
    this.size = size;
  }

  read(): Buffer {
    return this.bytes.subarray(0, this.size);
  }
}

/** A file or a directory: what a sync has made durable, and the changes since then. */
class Synced<Durable, Change> {
  readonly durable: Durable;
  readonly unsynced: Change[] = [];
  private readonly apply: (durable: Durable, change: Change) => void;
  private synced = 0;

  constructor(durable: Durable, apply: (durable: Durable, change: Change) => void) {
    this.durable = durable;
    this.apply = apply;
  }

  /** How many changes there have been. */
  count(): number {
    return this.synced + this.unsynced.length;
  }

  /** Makes the first changes durable. */
  sync(count: number): void {
    const changes = this.unsynced.splice(0, Math.max(0, count - this.synced));
    for (const change of changes) this.apply(this.durable, change);
    this.synced += changes.length;
  }
}

class File extends Synced<Content, Change> {
  constructor(bytes?: Buffer) {
    super(new Content(bytes), (content, change) => content.apply(change));
  }
}

/** The file that a name in the directory refers to from now on. */
type Naming = { readonly name: string; readonly file: File | null };

/** A directory without subdirectories. */
class Directory extends Synced<Map<string, File>, Naming> {
  constructor(files: ReadonlyMap<string, File>) {
    super(new Map(files), applyName);
  }
}

/** Reads the files of a directory, but not those through which processes share memory. */
export function filesIn(directory: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(directory).filter(isStored);
  const files = names.filter((name) => statSync(join(directory, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(directory, name))]));
}

/** Replaces the files of a directory. */
export function putFiles(directory: string, files: ReadonlyMap<string, Buffer>): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes, { mode: 0o600 });
}

/**
 * Computes from the record of a killed process what the disk would contain if the power had failed instead. `before`
 * contains the files when the process started. A disk keeps what was synced: the content of a file once the file was
 * synced, and its name once the directory was. It keeps any part of the remaining changes.
 */
export function tracedDisk(record: string, directory: string, before: ReadonlyMap<string, Buffer>) {
  const names = new Map([...before].map(([name, bytes]) => [name, new File(bytes)]));
  const disk = new Directory(names);
  /** The open files, keyed by descriptor. */
  const open = new Map<number, File | Directory>();
  /** For each thread that syncs: what it syncs, and how many changes there were when the call began. */
  const syncing = new Map<string, { readonly of: File | Directory; readonly count: number }>();
  /**
   * For each thread that changes a file: that file. If a kill ends the call, the record does not say whether the file
   * changed.
   */
  const changing = new Map<string, File>();

  function fileAt(path: string): File | undefined {
    return path.startsWith(`${directory}/`) ? names.get(path.slice(directory.length + 1)) : undefined;
  }

  function name(path: string, file: File | null): void {
    const naming = { name: path.slice(directory.length + 1), file };
    applyName(names, naming);
    disk.unsynced.push(naming);
  }

  function opened(path: string, flags: string, descriptor: number): void {
    open.delete(descriptor);
    if (path === directory) open.set(descriptor, disk);
    if (!path.startsWith(`${directory}/`)) return;
    const known = fileAt(path);
    const file = known ?? new File();
    if (known === undefined) name(path, file);
    if (flags.includes('O_TRUNC')) file.unsynced.push({ size: 0 });
    open.set(descriptor, file);
  }

  function unlinked(path: string): void {
    if (path.startsWith(`${directory}/`)) name(path, null);
  }

  /** Returns the path that `openat` or `unlink` names, or else the open file that the call refers to. */
  function targetOf({ call, args }: Call): { readonly path?: string; readonly of: File | Directory | undefined } {
    if (call !== 'openat' && call !== 'unlink') return { of: open.get(Number(args[0])) };
    const path = bytesOf(args[call === 'openat' ? 1 : 0]).toString();
    return { path, of: fileAt(path) };
  }

  function began(called: Call): void {
    const { of } = targetOf(called);
    const { thread, call, args } = called;
    syncing.delete(thread);
    if (of === undefined) return;
    if (isSync(call)) syncing.set(thread, { of, count: of.count() });
    else if (of instanceof File && (call !== 'openat' || args[2]?.includes('O_TRUNC'))) changing.set(thread, of);
  }

  function ended(called: Call & { readonly result: number }): void {
    const { path, of } = targetOf(called);
    const { thread, call, args, result } = called;
    changing.delete(thread);
    if (result < 0) return;
    if (path !== undefined) {
      if (call === 'openat') opened(path, args[2] ?? '', result);
      else unlinked(path);
    } else if (isSync(call)) {
      const begun = syncing.get(thread);
      begun?.of.sync(begun.count);
    } else if (of instanceof File) {
      of.unsynced.push(
        call === 'pwrite64'
          ? { offset: Number(args[3]), bytes: bytesOf(args[1]).subarray(0, result) }
          : { size: Number(args[1]) },
      );
    }
  }

  readCalls(readFileSync(record, 'latin1'), began, ended);
  return {
    /** The files as the process left them, except for those that it was changing when it was killed. */
    all(): ReadonlyMap<string, Buffer> {
      const cut = new Set(changing.values());
      const whole = [...names].filter(([of, file]) => !cut.has(file) && isStored(of));
      return new Map(whole.map(([of, { durable, unsynced }]) => [of, contentOf(durable, unsynced)]));
    },
    /** The files after a power failure. Each page and each name that was not synced is kept with probability `kept`. */
    afterFailure(random: Chance, kept: number): ReadonlyMap<string, Buffer> {
      const left = new Map(disk.durable);
      const namings = Math.floor(random.next() * kept * (disk.unsynced.length + 1));
      for (const each of disk.unsynced.slice(0, namings)) applyName(left, each);
      const stored = [...left].filter(([of]) => isStored(of));
      return new Map(
        stored.map(([of, { durable, unsynced }]) => [of, contentOf(durable, someOf(unsynced, random, kept))]),
      );
    },
  };
}

/** Returns false for a file through which processes share memory. SQLite ignores its content after a start. */
function isStored(name: string): boolean {
  return !name.endsWith('-shm');
}

/** Converts a string in the record, which contains every byte in hexadecimal, to its bytes. */
function bytesOf(text = ''): Buffer {
  return Buffer.from(text.replaceAll(/\\x|"/g, ''), 'hex');
}

function isSync(call: string): boolean {
  return call === 'fsync' || call === 'fdatasync';
}

function applyName(names: Map<string, File>, { name, file }: Naming): void {
  if (file === null) names.delete(name);
  else names.set(name, file);
}

function contentOf(durable: Content, changes: readonly Change[]): Buffer {
  const content = new Content(durable.read());
  for (const each of changes) content.apply(each);
  return content.read();
}

/** Returns a random part of the changes. A page is sometimes torn: only its first sectors were written. */
function someOf(changes: readonly Change[], random: Chance, kept: number): Change[] {
  return changes.flatMap((change): Change[] => {
    if (!('bytes' in change)) return random.next() < kept ? [change] : [];
    const pages: Change[] = [];
    for (let from = 0; from < change.bytes.length; ) {
      const offset = change.offset + from;
      const length = Math.min(pageBytes - (offset % pageBytes), change.bytes.length - from);
      const written = random.next() < 0.1 ? sectorBytes * random.below(pageBytes / sectorBytes) : length;
      const bytes = change.bytes.subarray(from, from + Math.min(length, written));
      if (random.next() < kept) pages.push({ offset, bytes });
      from += length;
    }
    return pages;
  });
}

const unfinishedMark = '<unfinished ...>';

type Call = { readonly thread: string; readonly call: string; readonly args: readonly string[] };

/**
 * Reads the record of strace. A call that another thread interrupted has two lines: the first ends with `<unfinished
 * ...>`, and the second begins with `<... CALL resumed>`.
 */
function readCalls(
  record: string,
  began: (call: Call) => void,
  ended: (call: Call & { readonly result: number }) => void,
): void {
  const unfinished = new Map<string, string>();
  for (const line of record.split('\n')) {
    const space = line.indexOf(' ');
    const thread = line.slice(0, space);
    let text = line.slice(space).trimStart();
    if (text.startsWith('<... ')) {
      text = (unfinished.get(thread) ?? '') + text.slice(text.indexOf('>') + 1);
      unfinished.delete(thread);
    } else if (/^\w+\(/.test(text)) {
      began(partsOf(thread, text));
      if (text.endsWith(unfinishedMark)) {
        unfinished.set(thread, text.slice(0, -unfinishedMark.length).trimEnd());
        continue;
      }
    } else continue;
    const result = /\) += (-?\d+)[^"]*$/.exec(text.slice(-200));
    if (result !== null) ended({ ...partsOf(thread, text), result: Number(result[1]) });
  }
}

/**
 * Splits `name(a, "b", 3) = 0`. Strings contain only hexadecimal digits, so a comma always separates two arguments, and
 * the first closing bracket ends them.
 */
function partsOf(thread: string, text: string): Call {
  const [call = '', args = ''] = text.split(/[()]/, 2);
  return { thread, call, args: args.replace(unfinishedMark, '').trimEnd().split(', ') };
}
