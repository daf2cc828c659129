// Creates the tables for a run, in Markdown.
import { threads } from '../run/processor-time.mjs';

const mostConnections = 64;

/** The threads of a limit server. It has no background thread. */
const limitThreads = threads.filter((name) => name !== 'background');

/**
 * Our own targets for 64 connections, two processors and 10,000 tokens. Each target is a ratio to the limit, unless its
 * comment says otherwise. The second number is a stretch target, or null if the workload has no stretch target.
 */
const ratioTargets = {
  'get revealed': [0.45, 0.55],
  'get masked': [0.42, null],
  'search exact data': [0.42, 0.5],
  'create card': [0.3, 0.4],
  patch: [0.18, 0.3],
  delete: [0.18, 0.3],
  'list page': [0.1, 0.15],
  'search half of all': [0.1, 0.15],
};

/** The targets for the cluster profile. */
const clusterTargets = { 'get revealed': 0.5, 'create card': 0.5 };

/**
 * The results of other vaults, as ratios to the same limits. These vaults were measured on the same kind of machine,
 * and used both of its processors.
 */
const peers = [
  {
    name: 'a card vault in Rust on PostgreSQL',
    ratios: { 'get revealed': 0.29, 'create card': 0.09 },
    does: 'encrypts and deduplicates cards',
    lacks: 'authentication, an audit log, search, masks, expiry',
  },
];

/**
 * Returns the sections of a report by name. Each section is a function that returns text. Some sections are included in
 * the documentation.
 */
export function sectionsOf(run) {
  const { table, growth, rebuild, fairness, webhooks, erasure, profile } = run;
  if (fairness !== undefined) return { machine: () => machineLine(run), fairness: () => fairnessTable(fairness) };
  if (webhooks !== undefined) return { machine: () => machineLine(run), webhooks: () => webhooksTable(webhooks) };
  if (rebuild !== undefined) return { machine: () => machineLine(run), rebuild: () => rebuildTable(rebuild) };
  if (growth === undefined)
    return {
      machine: () => `${machineLine(run)} ${number(run.tokens)} tokens.`,
      works: () => clusterTable(table),
      times: () => clusterTimesTable(table),
    };
  return {
    machine: () => machineLine(run),
    rates: () => ratesTable(table),
    busy: () => busyTable(table.filter(({ connections }) => connections === mostConnections)),
    targets: () => targetsTable(table, growth),
    peers: () => peersTable(table),
    works: () => worksTable(table.filter(({ connections }) => connections === mostConnections)),
    all: () => worksTable(table),
    growth: () => growthTable(growth),
    stores: () => storeTable(growth),
    scale: () => scaleTable(growth),
    erasure: () =>
      `A delete from the request to the response, one at a time: p50 ${ms(erasure.p50)} ms, p95 ${ms(erasure.p95)} ms, p99 ${ms(erasure.p99)} ms (${erasure.count} deletes). After the response, the wrapped bytes of ${erasure.checked} destroyed keys were searched for in every file of the key store: ${erasure.left === 0 ? 'none were found' : `${erasure.left} were found`}.`,
    profile: () => profileTable(profile),
  };
}

/** Returns all sections as one page. */
export function reportOf(run) {
  const parts = Object.entries(sectionsOf(run)).map(([name, text]) => `## ${name}\n\n${text()}`);
  return [`# Benchmark \`${run.name}\``, ...parts, ''].join('\n\n');
}

function machineLine({ name, day, minutes, machine }) {
  const { processors, model, memoryBytes, node, system } = machine;
  return `Run \`${name}\` of ${day}: ${processors} processors (${model}), ${(memoryBytes / 2 ** 30).toFixed(0)} GiB, ${system}, Node ${node}; ${minutes.toFixed(1)} minutes.`;
}

/**
 * Returns a table of the performance that a user sees: requests per second, and p50 and p99 in ms, by number of
 * connections.
 */
function ratesTable(table) {
  const counts = [...new Set(table.map(({ connections }) => connections))];
  const works = [...new Set(table.map(({ work }) => work))];
  const header = ['', ...counts.flatMap((count) => [`${count} conn., a second`, 'p50', 'p99'])];
  const lines = works.map((work) => [
    work,
    ...counts.flatMap((count) => {
      const { perSecond, p50, p99 } = table.find((row) => row.work === work && row.connections === count).figures.vault;
      return [number(perSecond.median), ms(p50.median), ms(p99.median)];
    }),
  ]);
  return markdown(header, lines);
}

/** Returns a table that compares a run with the targets. */
function busyTable(rows) {
  const lines = rows.map(({ work, figures: { vault } }) => [
    work,
    number(vault.perSecond.median),
    ms(vault.p99.median),
  ]);
  return markdown(['64 connections, 10,000 tokens', 'requests a second', 'p99, ms'], lines);
}

function targetsTable(table, growth) {
  const row = (work, connections) => table.find((one) => one.work === work && one.connections === connections);
  const largest = growth.at(-1);
  const main = growth.find((one) => one.rebuild !== undefined && one.rows.length > 0) ?? largest;
  const bytes = Object.values(largest.files).reduce((sum, length) => sum + length, 0) / largest.size;
  const ratios = Object.entries(ratioTargets).map(([work, [target, stretch]]) => [
    `${work}, part of the limit`,
    range(row(work, mostConnections).ratios.limit),
    target,
    stretch ?? '',
  ]);
  return markdown(
    ['', 'reached', 'target', 'stretch'],
    [
      ...ratios,
      ['p99 of a get at 16 connections, ms', span(row('get revealed', 16).figures.vault.p99), 3, ''],
      ['imported tokens a second', number(largest.import.tokens / largest.import.seconds), '10,000', '20,000'],
      ['events a second in a rebuild', number(main.rebuild.events / main.rebuild.seconds), '20,000', ''],
      [
        `start after a kill with ${number(largest.size)} tokens, s (the target is for a million)`,
        largest.secondsToReady.afterKill.toFixed(2),
        3,
        '',
      ],
      [`bytes a token on disk, of ${number(largest.size)}`, number(bytes), '1,500', ''],
      [
        `memory after the load with ${number(largest.size)} tokens, MB`,
        number(largest.memory.afterLoad / 1e6),
        'at most 350',
        '',
      ],
    ],
  );
}

function peersTable(table) {
  const works = ['get revealed', 'create card'];
  const ours = works.map((work) =>
    range(table.find((row) => row.work === work && row.connections === mostConnections).ratios.limit),
  );
  return markdown(
    ['', ...works, 'does', 'does not'],
    [
      ['Strongroom', ...ours, 'everything on these pages', ''],
      ...peers.map(({ name, ratios, does, lacks }) => [name, ...works.map((work) => ratios[work]), does, lacks]),
    ],
  );
}

/**
 * Returns a table that compares the vault's requests per second with those of the limit. It also shows the processor
 * time of each thread per request, in µs, and the fraction of one processor that the load generator used. All figures
 * in a table row come from the same rounds.
 */
export function worksTable(rows) {
  const lines = rows.map(({ work, connections, figures: { vault, limit }, ratios }) => [
    work,
    connections,
    range(ratios.limit),
    whole(vault.perSecond),
    ...threads.map((name) => whole(vault[name])),
    whole(limit.perSecond),
    ...limitThreads.map((name) => whole(limit[name])),
    `${vault.generator.median.toFixed(2)} / ${limit.generator.median.toFixed(2)}`,
  ]);
  const ofVault = ['a second', ...threads];
  const ofLimit = ['a second', ...limitThreads].map((name) => `limit: ${name}`);
  return markdown(['work', 'connections', 'ratio', ...ofVault, ...ofLimit, 'load generator'], lines);
}

/** The highest acceptable slowdown: a tenant's p99 while another tenant attacks, divided by its p99 at rest. */
const fairnessTarget = 3;

function fairnessTable({ connections, applications, largeTokens, largeBytes, count, rounds, atRest, measured }) {
  const works = Object.keys(atRest);
  const lines = works.flatMap((work) =>
    [{ name: 'at rest', ...atRest }, ...measured].map((row) => {
      const { p50, p99, longest } = row[work];
      const times = p99.median / atRest[work].p99.median;
      const cells = row.name === 'at rest' ? ['', ''] : [times.toFixed(1), times <= fairnessTarget ? 'yes' : 'no'];
      return [work, row.name, range(p50), range(p99), ms(longest.high), ...cells];
    }),
  );
  const header = [
    'quiet tenant',
    'other tenant',
    'p50',
    'p99',
    'longest',
    'p99, times rest',
    `at most ${fairnessTarget}`,
  ];
  const text =
    `The other tenant uses ${connections} connections for each attack and ${applications} applications, with ` +
    `${number(largeTokens)} tokens of ${number(largeBytes)} bytes. The quiet tenant sends one request at a time, ` +
    `${number(count)} in each of ${rounds} rounds.`;
  return `${markdown(header, lines)}\n\n${text}`;
}

/** Returns a table that shows how much a webhook slows creates down, by number of connections. */
function webhooksTable({ rounds, table }) {
  const lines = table.flatMap(({ connections, count, figures, ratios, timeTotals }) =>
    ['without', 'with'].map((name) => {
      const { perSecond, p50, p99, serving, writing, delivered } = figures[name];
      const { ratio, error } = timeTotals.without;
      const compared =
        name === 'with'
          ? [
              range(ratios.without),
              `${ratio.toFixed(3)} ± ${error.toFixed(3)}`,
              `${Math.round(delivered.median * 100)}%`,
            ]
          : ['', '', ''];
      return [
        connections,
        name,
        number(count),
        whole(perSecond),
        range(p50),
        range(p99),
        whole(serving),
        whole(writing),
        ...compared,
      ];
    }),
  );
  const header = [
    'connections',
    'webhook',
    'creates',
    'per second',
    'p50',
    'p99',
    'serving',
    'writing',
    'rate, with / without',
    'processor time, with / without',
    'delivered',
  ];
  const text = `Median and range of ${rounds} rounds. Times in ms. \`serving\` and \`writing\` are the processor time in µs that each of these threads spends per create, including deliveries. Rates are compared round by round. The processor time is that of all threads over all rounds, with the standard error of the ratio. \`delivered\` is the fraction of a round's events that had arrived at the end of the round.`;
  return `${markdown(header, lines)}\n\n${text}`;
}

/** Returns a table of the median and the p99, in ms, and of the ratio to the limit, by number of tokens. */
function growthTable(growth) {
  const works = growth[0].rows.map(({ work, connections }) => ({ work, connections }));
  const lines = works.map(({ work, connections }) => {
    const rows = growth.map(({ rows }) => rows.find((row) => row.work === work));
    const cells = rows.map(
      ({ figures, ratios }) =>
        `${ms(figures.vault.p50.median)} / ${ms(figures.vault.p99.median)} (${ratios.limit.median.toFixed(2)})`,
    );
    const decades = Math.log10(growth.at(-1).size / growth[0].size);
    // Divides by the limit that was measured at the same time, because the speed of the machine varies.
    const [first, last] = [rows[0], rows.at(-1)].map(
      ({ figures }) => figures.vault.p50.median / figures.limit.p50.median,
    );
    const slope = (last / first) ** (1 / decades);
    return [`${work}, ${connections} connections`, ...cells, `× ${slope.toFixed(2)}`];
  });
  return markdown(['work', ...growth.map(({ size }) => number(size)), 'slope'], lines);
}

function storeTable(growth) {
  const files = [...new Set(growth.flatMap((one) => Object.keys(one.files)))].filter((file) => file.endsWith('.db'));
  const seconds = (value) => value?.toFixed(2) ?? '';
  const lines = [
    ...files.map((file) => [
      `bytes a token in \`${file}\``,
      ...growth.map((one) => number((one.files[file] ?? 0) / one.size)),
    ]),
    ['memory, idle, MB', ...growth.map(({ memory }) => number(memory.idle / 1e6))],
    ['memory after the load, MB', ...growth.map(({ memory }) => number(memory.afterLoad / 1e6))],
    ['start, s', ...growth.map(({ secondsToReady }) => seconds(secondsToReady.usual))],
    ['the first start after an import, s', ...growth.map(({ secondsToReady }) => seconds(secondsToReady.afterImport))],
    ['start after a kill under load, s', ...growth.map(({ secondsToReady }) => seconds(secondsToReady.afterKill))],
    ['imported a second', ...growth.map((one) => number(one.import.tokens / one.import.seconds))],
    [
      'events a second in a rebuild',
      ...growth.map(({ rebuild }) => (rebuild === undefined ? '' : number(rebuild.events / rebuild.seconds))),
    ],
  ];
  return markdown(['tokens', ...growth.map(({ size }) => number(size))], lines);
}

/**
 * Returns a table that extrapolates the file sizes of the largest measured vault to more tokens. The extrapolation is
 * linear.
 */
function scaleTable(growth) {
  const { files, size } = growth.at(-1);
  const { rebuild, size: rebuilt } = growth.findLast((one) => one.rebuild !== undefined);
  const bytes = Object.entries(files).filter(([file]) => file === 'vault.db' || file === 'keys.db');
  const perSecond = rebuild.events / rebuild.seconds;
  const lines = [1_000_000, 10_000_000, 100_000_000].map((tokens) => [
    number(tokens),
    ...bytes.map(([, length]) => `${((length / size) * (tokens / 1e9)).toFixed(1)} GB`),
    `${(tokens / perSecond / 3600).toFixed(1)} h`,
  ]);
  return markdown(
    ['tokens', ...bytes.map(([file]) => `\`${file}\``), `a rebuild, as fast as of ${number(rebuilt)}`],
    lines,
  );
}

function clusterTable(rows) {
  const lines = rows.map(({ work, connections, figures, ratios }) => {
    const [name] = Object.keys(figures);
    const { perSecond, p50, p95, p99 } = figures[name];
    return [
      `${work} (${name})`,
      connections,
      range(ratios.limit),
      clusterTargets[work] ?? '',
      number(perSecond.median),
      number(figures.limit.perSecond.median),
      ...[p50, p95, p99].map(({ median }) => ms(median)),
    ];
  });
  return markdown(
    ['work', 'connections', 'ratio', 'target', 'a second', 'limit, a second', 'p50', 'p95', 'p99'],
    lines,
  );
}

/**
 * Returns a table of the processor time per request, in µs, for one API process and for all processes on the machine.
 */
function clusterTimesTable(table) {
  const lines = table.map(({ work, figures }) => {
    const [name] = Object.keys(figures);
    const { [name]: own, limit } = figures;
    const ofProcess = ({ serving, writing, background, other }) =>
      serving.median === null
        ? ['', '']
        : [number(serving.median), number(writing.median + (background?.median ?? 0) + other.median)];
    return [
      `${work} (${name})`,
      ...ofProcess(own),
      ...ofProcess(limit),
      ...[own, limit].map(({ machine }) => number(machine.median)),
      ...[own, limit].map(({ generator }) => generator.median.toFixed(2)),
    ];
  });
  const ofProcess = ['serving', 'other threads', 'limit: serving', 'limit: other threads'];
  const ofMachine = ['all processes', 'limit: all processes', 'load generator', 'limit: load generator'];
  return markdown(['work', ...ofProcess, ...ofMachine], lines);
}

/** Returns a table that shows how the serving thread spends its time, in %. */
function profileTable(profile) {
  const works = Object.keys(profile);
  const kinds = Object.keys(profile[works[0]]);
  const percent = (share) => (share === null ? '' : (share * 100).toFixed(0));
  const lines = kinds.map((kind) => [kind, ...works.map((work) => percent(profile[work][kind]))]);
  return markdown(['%', ...works], lines);
}

function rebuildTable({ tokens, connections, seconds, atRest, during }) {
  const line = (name, { chunks, p50, p95, p99 }) => [name, number(chunks), ...[p50, p95, p99].map(span)];
  const table = markdown(
    ['revealed gets', 'thousands', 'p50', 'p95', 'p99'],
    [line('at rest', atRest), line('during the rebuild', during)],
  );
  const ratio = (during.p99.median / atRest.p99.median).toFixed(2);
  return `${table}\n\n${number(tokens)} tokens, ${connections} connections. Each connection sends its next request as soon as it receives a response. The rebuild took ${number(seconds)} s. During the rebuild, p99 was ${ratio} times the p99 at rest. The target is at most 2 times.`;
}

function span({ median, low, high }) {
  return `${ms(median)} (${ms(low)}-${ms(high)})`;
}

function markdown(header, lines) {
  const rows = [header, header.map(() => '---'), ...lines];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function range({ median, low, high }) {
  return `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;
}

/** Returns a median and a range without decimals, or an empty string if nothing was measured. */
function whole({ median, low, high }) {
  return median === null ? '' : `${number(median)} (${number(low)}-${number(high)})`;
}

function ms(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

function number(value) {
  return Math.round(value).toLocaleString('en');
}
