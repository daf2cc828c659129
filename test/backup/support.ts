import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { makeVault } from '../support/process.js';

/** Creates a vault and an age identity. */
export async function vaultWithIdentity() {
  const vault = await makeVault();
  const identity = await generateIdentity();
  const identityFile = join(vault.dir, 'backup.identity');
  writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
  return { ...vault, identityFile, recipient: await identityToRecipient(identity) };
}

/**
 * Returns variables with which a command sends itself this signal once, as soon as the function of `node:fs` has returned
 * for a path that ends like this. A signal from the test could come when the command has already finished.
 */
export function signalingItself(signal: NodeJS.Signals, name: 'mkdir' | 'mkdirSync' | 'open' | 'rmSync', end: RegExp) {
  const script = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const module = ${JSON.stringify(name)} in fs.promises ? fs.promises : fs;
    const call = module.${name};
    let isSent = false;
    module.${name} = (path, ...rest) => {
      const result = call(path, ...rest);
      const signal = () => {
        if (isSent || !${end}.test(path)) return;
        isSent = true;
        process.kill(process.pid, '${signal}');
      };
      if (module === fs) signal();
      else result.then(signal);
      return result;
    };
    syncBuiltinESMExports();
  `;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };
}
