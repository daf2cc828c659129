// The tables of a run, as Markdown.

/** The targets that the product has set itself; ratios to the limit at 64 connections. */
const targets = {
  'get revealed': 0.5,
  'get masked': 0.45,
  'create card': 0.45,
  'search exact data': 0.4,
  'list page': 0.2,
};

export function embeddedTables(run) {
  const { table, growth, erasure, crypto } = run;
  const sizes = growth.map(({ size }) => number(size));
  return [
    head(run),
    `All works on a vault of ${sizes.at(-1)} tokens. Ratio: requests a second of the vault to those of its limit in the same round; median of
${run.table[0].ratios.limit.rounds ?? 'all'} rounds, and between what they lay. Times in ms.`.replace('\n', ' '),
    workTable(table),
    `## Growth`,
    `Median and p99 in ms, and the ratio to the limit, by the number of tokens. The slope is what the median grows by when there are ten times as many.`,
    growthTable(growth),
    storeTable(growth),
    `## Erasure`,
    `A delete from the call to the answer, one at a time: p50 ${ms(erasure.p50)}, p95 ${ms(erasure.p95)}, p99 ${ms(erasure.p99)} (${erasure.count} deletes). When the answer was there the wrapped bytes of ${erasure.checked} destroyed keys were looked for in every file of the key store: found ${erasure.left}.`,
    `## Audit`,
    auditLine(table),
    `## Cryptography`,
    Object.entries(crypto)
      .map(
        ([work, share]) =>
          `- ${work}: ${(share * 100).toFixed(0)} % of the time in which the serving thread was not idle`,
      )
      .join('\n'),
    '',
  ].join('\n\n');
}

export function clusterTables(run) {
  return [
    head(run),
    `EventStoreDB is the stand-in of the tests, on the same machine as everything else: these figures tell how much work the vault does, not how fast a real cluster is.`,
    workTable(run.table),
    '',
  ].join('\n\n');
}

function head({ name, day, minutes, machine }) {
  const { processors, model, memoryBytes, node, system } = machine;
  return `# Benchmark \`${name}\`, ${day}

${processors} processors (${model}), ${(memoryBytes / 2 ** 30).toFixed(0)} GiB, ${system}, Node ${node}; ${minutes.toFixed(1)} minutes. Written by \`npm run bench\`.`;
}

function workTable(rows) {
  const lines = rows.map(({ work, connections, figures, ratios }) => {
    const [name] = Object.keys(figures);
    const own = figures[name];
    const [limit, ratio] = Object.entries(ratios)[0];
    const target = connections === 64 && limit === 'limit' ? (targets[work] ?? '') : '';
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

function growthTable(growth) {
  const works = growth[0].rows.map(({ work, connections }) => ({ work, connections }));
  const lines = works.map(({ work, connections }) => {
    const rows = growth.map(({ rows }) => rows.find((row) => row.work === work));
    const cells = rows.map(
      ({ figures, ratios }) =>
        `${ms(figures.vault.p50.median)} / ${ms(figures.vault.p99.median)} (${ratios.limit.median.toFixed(2)})`,
    );
    const decades = Math.log10(growth.at(-1).size / growth[0].size);
    const slope = (rows.at(-1).figures.vault.p50.median / rows[0].figures.vault.p50.median) ** (1 / decades);
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
    ['start, s', ...growth.map(({ secondsToReady }) => secondsToReady.toFixed(2))],
    ['imported a second', ...growth.map((one) => number(one.import.tokens / one.import.seconds))],
    ['events a second in a rebuild', ...growth.map(({ rebuild }) => number(rebuild.events / rebuild.seconds))],
  ];
  return markdown(['tokens', ...growth.map(({ size }) => number(size))], lines);
}

/** A revealed read waits for its record in the access log, a masked one does not. */
function auditLine(table) {
  const of = (work) => table.find((row) => row.work === work && row.connections === 64).figures.vault.perSecond.median;
  const ratio = of('get revealed') / of('get masked');
  return `A get in clear is answered when its record in the access log is on the disk; a masked one does not wait, but evaluates a mask. Requests a second of the first to those of the second, 64 connections: ${ratio.toFixed(2)}.`;
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
