import { readFileSync } from 'node:fs';

/**
 * Returns advice for a file that belongs to the user `uid` and not to this process's user. Running the command as the
 * file's owner comes first: changing the owner instead would lock out a service that runs as this user.
 */
export function runAsOwner(uid: number): string {
  const name = userName(uid);
  const [shown, quoted] = name === null ? [`the user ${uid}`, `'#${uid}'`] : [name, name];
  return `If Strongroom runs as ${shown}, run this command as that user: \`sudo -u ${quoted} strongroom …\`.`;
}

/**
 * Returns the name of a local user. Returns null if `/etc/passwd` cannot be read or does not name the user, for example
 * because a directory service does.
 */
function userName(uid: number): string | null {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    const [name = ''] = users.map((line) => line.split(':')).find((fields) => fields[2] === String(uid)) ?? [];
    return /^[a-z_][\w.-]*$/i.test(name) ? name : null;
  } catch {
    return null;
  }
}
