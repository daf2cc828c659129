import { readKeyFile } from './read-key-file.js';
import { noRootKey, type RootKeyResult } from './root-key-result.js';
import { runKeyCommand } from './run-key-command.js';

/**
 * Loads the root key from the configured source, which is either a file or the output of a command. There is no default
 * source, and an environment variable cannot contain the key (docs/design.md, "Key hierarchy"; docs/contract.md,
 * "Settings"). If the key cannot be loaded, returns a message with advice.
 */
export async function loadRootKey(from: {
  readonly file?: string | null;
  readonly command?: readonly [string, ...string[]] | null;
  readonly dataDir: string;
  /** True for the key of `--dev` data. */
  readonly isDev?: boolean;
}): Promise<RootKeyResult> {
  const { file = null, command = null, dataDir, isDev } = from;
  if (file !== null) return readKeyFile(file, dataDir, isDev);
  if (command !== null) return runKeyCommand(command);
  return noRootKey(
    'no root key is set. Create one with `strongroom keys generate-root FILE`, outside the data directory, ' +
      'and set root_key_file (STRONGROOM_ROOT_KEY_FILE, --root-key-file) to its path. An existing vault ' +
      'can be opened only with its own root key.',
  );
}
