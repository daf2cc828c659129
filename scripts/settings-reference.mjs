// Writes docs/reference/settings.md from the table of settings. With --check it only reports whether the page is up to
// date.
import { readFileSync, writeFileSync } from 'node:fs';
import { clientSettingPaths, clientSettings } from '#src/compose/config/client-settings.js';
import { environmentName, flagName } from '#src/compose/config/setting.js';
import { settingPaths, settings } from '#src/compose/config/settings.js';

const page = 'docs/reference/settings.md';
const rows = settingPaths.map((path) => {
  const { default: value, doc } = settings[path];
  const shown = value === null || (Array.isArray(value) && value.length === 0) ? '-' : `\`${value}\``;
  return `| \`${path}\` | ${shown} | ${doc} |`;
});
const clientRows = clientSettingPaths.map((path) => {
  const { hasFlag, doc } = clientSettings[path];
  return `| \`${environmentName(path)}\` | ${hasFlag ? `\`${flagName(path)}\`` : '-'} | ${doc} |`;
});
const text = `# Settings

Settings come from a JSON file (\`--config\`), then from variables, then from flags; the later one wins. The variable of
\`${settingPaths[0]}\` is \`${environmentName(settingPaths[0])}\`, that of \`auth.header_aliases\` is
\`${environmentName('auth.header_aliases')}\`; its flag is \`${flagName('auth.header_aliases')}\`. Lists are written with commas. A
setting that Strongroom does not know is an error, so a misspelt one cannot go unnoticed. \`strongroom config print\` shows what is in force.

| Setting | Default | What it does |
|---|---|---|
${rows.join('\n')}

The root key comes from a file or a command, never from a variable. Its file holds 64 hexadecimal characters, belongs to the
user that runs the service, is not readable by any other user (mode 0600 or 0400), and lies outside the data directory.

## Commands over HTTP

\`tokens get\`, \`create\`, \`delete\` and \`search\`, and \`applications create\` and \`list\`, work on a service if they have an address
([commands from another machine](../how-to/run-it.md#commands-from-another-machine)). These values are not settings of the vault:
\`serve\` ignores them, and a file cannot hold them. A flag takes precedence over a variable.

| Variable | Flag | What it is |
|---|---|---|
${clientRows.join('\n')}

Without an address, every command that acts as an application takes its API key from the same places.
`;

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) {
  console.error(`${page} is not what the settings say; write it again: npm run settings-reference`);
  process.exit(1);
}
