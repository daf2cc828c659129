// Writes docs/reference/settings.md from the table of settings. With --check, the script only reports whether the page
// is up to date.
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

Settings come from a JSON file (\`--config\`), then from environment variables, then from flags. A later source overrides
an earlier one. For example, the setting \`auth.header_aliases\` has the variable \`${environmentName('auth.header_aliases')}\` and the
flag \`${flagName('auth.header_aliases')}\`. Separate the items of a list with commas. An unknown setting is an error, so a misspelled
name cannot go unnoticed. A JSON file that other users can change is an error too, because a setting can name a program
to run. \`strongroom config print\` shows the settings in effect.

| Setting | Default | What it does |
|---|---|---|
${rows.join('\n')}

The root key comes from a file or a command, never from a variable. Its file contains 64 hexadecimal characters, and is
outside the data directory. [Run it](../how-to/run-it.md#root-key) describes the owner and the mode of the file.

## Commands over HTTP

\`tokens get\`, \`create\`, \`delete\` and \`search\`, and \`applications create\` and \`list\`, connect to a service if an
address is set ([commands from another machine](../how-to/run-it.md#commands-from-another-machine)). These values are
not settings of the vault: \`serve\` ignores them, and a configuration file cannot contain them. A flag takes precedence
over a variable.

| Variable | Flag | What it is |
|---|---|---|
${clientRows.join('\n')}

A command that acts as an application reads its API key from these places even if it works on local data.
`;

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) {
  console.error(`${page} is out of date. Run: npm run settings-reference`);
  process.exit(1);
}
