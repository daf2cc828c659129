// The tables of a run, as Markdown.
import { ownCode } from '../run/profile.mjs';

/** The product's own targets by workload and connections, as ratios to the limit. */
const targets = {
  'get revealed, 64': 0.5,
  'get masked, 64': 0.45,
  'create card, 64': 0.45,
  'search exact data, 64': 0.4,
  'list page, 64': 0.2,
  'search half of all, 16': 'p99 5 ms',
};

/** The targets for the cluster profile. */
const clusterTargets = { 'get revealed, 64': 0.5, 'create card, 64': 0.5 };

/** Returns the sections of a report by name. The pages of the documentation show some of them. */
export function sectionsOf(run) {
  const { table, growth, bare, parts, rebuild, fairness, erasure, profile } = run;
  if (fairness !== undefined) return { machine: machineLine(run), fairness: fairnessTable(fairness) };
  if (rebuild !== undefined) return { machine: machineLine(run), rebuild: rebuildTable(rebuild) };
  if (growth === undefined)
    return {
      machine: `${machineLine(run)} ${number(run.tokens)} tokens.`,
      works: workTable(table),
      times: clusterTimesTable(table),
    };
  return {
    machine: machineLine(run),
    works: workTable(table),
    times: timesTable(table),
    bare: bareTable(bare),
    parts: partsTable(parts),
    page: pageLine(parts),
    growth: growthTable(growth),
    stores: storeTable(growth),
    scale: scaleTable(growth),
    erasure: `A delete from the call to the answer, one at a time: p50 ${ms(erasure.p50)} ms, p95 ${ms(erasure.p95)} ms, p99 ${ms(erasure.p99)} ms (${erasure.count} deletes). When the answer was there, the wrapped bytes of ${erasure.checked} destroyed keys were looked for in every file of the key store: ${erasure.left === 0 ? 'none was found' : `${erasure.left} were found`}.`,
    audit: auditLine(table),
    profile: profileTable(profile, table),
  };
}

const openedName = 'the same, with a key that is open';

/** Returns all sections as one page. */
export function reportOf(run) {
  const parts = Object.entries(sectionsOf(run)).map(([name, text]) => `## ${name}\n\n${text}`);
  return [`# Benchmark \`${run.name}\``, ...parts, ''].join('\n\n');
}

function machineLine({ name, day, minutes, machine }) {
  const { processors, model, memoryBytes, node, system } = machine;
  return `Run \`${name}\` of ${day}: ${processors} processors (${model}), ${(memoryBytes / 2 ** 30).toFixed(0)} GiB, ${system}, Node ${node}; ${minutes.toFixed(1)} minutes.`;
}

function workTable(rows) {
  const lines = rows.map(({ work, connections, figures, ratios }) => {
    const [name] = Object.keys(figures);
    const own = figures[name];
    const [limit, ratio] = Object.entries(ratios)[0];
    const target = (name === 'vault' ? targets : clusterTargets)[`${work}, ${connections}`] ?? '';
    return [
      `${work}${name === 'vault' ? '' : ` (${name})`}`,
      connections,
      range(ratio),
      target,
      number(own.perSecond.median),
      number(figures[limit].perSecond.median),
      ms(own.p50.median),
      ms(own.p95.median),
      ms(own.p99.median),
    ];
  });
  return markdown(
    ['work', 'connections', 'ratio', 'target', 'a second', 'limit, a second', 'p50', 'p95', 'p99'],
    lines,
  );
}

/** While a tenant does its worst, p99 of another tenant may be at most this many times its value at rest. */
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

function growthTable(growth) {
  const works = growth[0].rows.map(({ work, connections }) => ({ work, connections }));
  const lines = works.map(({ work, connections }) => {
    const rows = growth.map(({ rows }) => rows.find((row) => row.work === work));
    const cells = rows.map(
      ({ figures, ratios }) =>
        `${ms(figures.vault.p50.median)} / ${ms(figures.vault.p99.median)} (${ratios.limit.median.toFixed(2)})`,
    );
    const decades = Math.log10(growth.at(-1).size / growth[0].size);
    // Compared with the limit measured at the same time, because the speed of the machine varies.
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
  const lines = [
    ...files.map((file) => [
      `bytes a token in \`${file}\``,
      ...growth.map((one) => number((one.files[file] ?? 0) / one.size)),
    ]),
    ['memory, idle, MB', ...growth.map(({ memory }) => number(memory.idle / 1e6))],
    ['memory after the load, MB', ...growth.map(({ memory }) => number(memory.afterLoad / 1e6))],
    ['start, s', ...growth.map(({ secondsToReady }) => secondsToReady.usual.toFixed(2))],
    [
      'the first start after an import, s',
      ...growth.map(({ secondsToReady }) => secondsToReady.afterImport.toFixed(2)),
    ],
    ['imported a second', ...growth.map((one) => number(one.import.tokens / one.import.seconds))],
    [
      'events a second in a rebuild',
      ...growth.map(({ rebuild }) => (rebuild === undefined ? '' : number(rebuild.events / rebuild.seconds))),
    ],
  ];
  return markdown(['tokens', ...growth.map(({ size }) => number(size))], lines);
}

/** Extrapolates the files of the largest measured vault to more tokens, assuming linear growth. */
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

/** Returns the processor time of a request, µs, at 64 connections. */
function timesTable(table) {
  const lines = table
    .filter(({ connections }) => connections === 64)
    .map(({ work, figures: { vault, limit } }) => [work, ...[vault, limit].flatMap(threads)]);
  return markdown(['work', 'serving', 'other threads', 'limit, serving', 'limit, others'], lines);
}

/**
 * Returns the processor time of a request in one API process and in all processes of the machine, µs, and the ratio if
 * the API took no time.
 */
function clusterTimesTable(table) {
  const lines = table.map(({ work, figures }) => {
    const [name] = Object.keys(figures);
    const [own, limit] = [figures[name], figures.limit];
    const whole = [own, limit].map(({ machine }) => number(machine.median));
    const others = own.machine.median - own.serving.median - own.others.median;
    const left = own.serving.median === null ? '' : (limit.machine.median / others).toFixed(2);
    return [`${work} (${name})`, ...threads(own), ...threads(limit), ...whole, left];
  });
  const ofProcess = ['serving', 'other threads', 'limit, serving', 'limit, others'];
  const ofMachine = ['all processes', 'limit, all processes', 'ratio without the API'];
  return markdown(['work', ...ofProcess, ...ofMachine], lines);
}

function threads({ serving, others }) {
  return [serving, others].map(({ median }) => (median === null ? '' : number(median)));
}

/** Returns how the serving thread spends its time, %, and the ratio if it never waited and our code took no time. */
function profileTable(profile, table) {
  const works = Object.keys(profile);
  const kinds = Object.keys(profile[works[0]]);
  const percent = (share) => (share === null ? '' : (share * 100).toFixed(0));
  const lines = kinds.map((kind) => [kind, ...works.map((work) => percent(profile[work][kind]))]);
  const left = works.map((work) => {
    const { vault, limit } = table.find((row) => row.work === work && row.connections === 64).figures;
    const ours = profile[work][ownCode];
    if (ours === null || vault.serving.median === null) return '';
    const atMost = 1e6 / (vault.serving.median * (1 - ours));
    return (atMost / limit.perSecond.median).toFixed(2);
  });
  return markdown(['%', ...works], [...lines, ['**the ratio at most, without our code and its libraries**', ...left]]);
}

/** Compares the minimum cost of each workload with the cost in the vault. */
function bareTable(results) {
  const lines = results.flatMap(({ work, figures }) => {
    const line = (name, figure) => [
      name,
      number(figure.perSecond.median),
      (figure.perSecond.median / figures.limit.perSecond.median).toFixed(2),
      ...threads(figure),
    ];
    const noVault = figures['no vault'];
    return [
      line(`${work}: the limit`, figures.limit),
      ...(noVault === undefined ? [] : [line('the vault, `GET /health/live`', noVault)]),
      line('a bare vault', figures['bare vault']),
      line('the vault', figures.vault),
    ];
  });
  return markdown(['', 'a second', 'of the limit', 'serving, µs', 'other threads, µs'], lines);
}

/** Returns the time that parts of a request take on the serving thread. */
function partsTable(parts) {
  const lines = Object.entries(parts).map(([name, micros]) => [name, micros === null ? '' : micros.toFixed(1)]);
  return markdown(['part', 'µs'], lines);
}

/**
 * Explains why a page of many tokens cannot reach its target: the work that cannot be left out already takes longer.
 */
function pageLine(parts) {
  const opened = parts[openedName];
  if (opened === null) return '';
  const [connections, targetMs, size] = [16, 5, 20];
  const allowed = (targetMs * 1000) / connections;
  const taken = opened * size;
  return `${connections} connections that ask again and again are answered in ${targetMs} ms when a page takes ${number(allowed)} µs of the one thread that serves. To open the contents of its ${size} tokens alone takes ${number(taken)} µs, with every key open already.`;
}

function rebuildTable({ tokens, connections, seconds, atRest, during }) {
  const line = (name, { chunks, p50, p95, p99 }) => [name, number(chunks), ...[p50, p95, p99].map(span)];
  const table = markdown(
    ['gets in clear', 'thousands', 'p50', 'p95', 'p99'],
    [line('at rest', atRest), line('during the rebuild', during)],
  );
  const ratio = (during.p99.median / atRest.p99.median).toFixed(2);
  return `${table}\n\n${number(tokens)} tokens, ${connections} connections, each asking again as soon as it is answered. The rebuild took ${number(seconds)} s; p99 during it was ${ratio} times that at rest; the target is 2.`;
}

function span({ median, low, high }) {
  return `${ms(median)} (${ms(low)}-${ms(high)})`;
}

/** Compares a revealed read, which waits for its record in the access log, with a masked read, which does not. */
function auditLine(table) {
  const of = (work) => table.find((row) => row.work === work && row.connections === 64).ratios.limit.median;
  return `A revealed get is answered once its record in the access log is on the disk. A masked get does not wait for its record, but evaluates a mask. As a part of the limit beside it, with 64 connections: ${of('get revealed').toFixed(2)} and ${of('get masked').toFixed(2)}.`;
}

function markdown(header, lines) {
  const rows = [header, header.map(() => '---'), ...lines];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function range({ median, low, high }) {
  return `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;
}

function ms(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

function number(value) {
  return Math.round(value).toLocaleString('en');
}
