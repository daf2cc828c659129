import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { clusterVault } from './cluster-vault.js';

/**
 * Creates a vault in the cluster profile. Returns the vault and two machines that have its root key. Each machine has a
 * separate directory.
 */
export async function twoMachines() {
  const { dir, rootKeyFile, env, key, keys } = await clusterVault();
  const machine = (name: string) => {
    mkdirSync(join(dir, name));
    const file = join(dir, name, 'root.key');
    copyFileSync(rootKeyFile, file);
    const ofMachine = { ...env, STRONGROOM_ROOT_KEY_FILE: file, STRONGROOM_ADMIN_PORT: 'off' };
    return { file, nextFile: `${file}.new`, options: { env: ofMachine } };
  };
  return { dir, one: machine('one'), other: machine('other'), oldRootKeyFile: rootKeyFile, key, keysDb: keys.db };
}
