import { execFileSync } from 'node:child_process';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';

/**
 * Commits a change, which makes every connection read the file's pages again. Then overwrites these pages with random
 * bytes.
 */
export function wreckFile(file: string): void {
  const other = pinStatements(file, {});
  other.exec('CREATE TABLE wrecker (a); DROP TABLE wrecker;');
  other.pragma('wal_checkpoint(TRUNCATE)');
  execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=4096', 'seek=1', 'count=40', 'conv=notrunc'], {
    stdio: 'ignore',
  });
  other.close();
}
