// Builds the requests of each workload from numbers. Every run therefore sends the same requests, and the load
// generator does not need a list of the stored tokens.

/**
 * Returns line n of the import. Half of the stored tokens are cards, and the other half are generic tokens of 200 bytes
 * each.
 */
export function storedToken(n) {
  const common = {
    id: `bench-${n}`,
    metadata: { customer: `c-${Math.floor(n / 4)}`, half: n % 4 < 2 ? 'left' : 'right' },
  };
  return n % 2 === 0
    ? {
        ...common,
        type: 'card',
        data: { number: cardNumber(n), expiration_month: 1 + (n % 12), expiration_year: 2032 },
      }
    : { ...common, type: 'token', data: textOf(n), search_indexes: ['{{ data }}'] };
}

/** Returns 200 bytes of text, different for each number. */
function textOf(n) {
  return `secret-${n}-`.padEnd(200, 'abcdefghijklmnopqrstuvwxyz0123456789');
}

/** Returns a 16-digit card number with a valid check digit. */
function cardNumber(n) {
  const body = `400000${String(n).padStart(9, '0')}`;
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    const digit = Number(body[body.length - 1 - i]) * (i % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return body + ((10 - (sum % 10)) % 10);
}

const json = { 'content-type': 'application/json' };

function post(path, body) {
  return { method: 'POST', path, headers: json, body: JSON.stringify(body) };
}

function search(query, page = 1) {
  return post('/tokens/search', { query, page, size: pageSize });
}

/**
 * Maps i to a number below `size`. The mapping gives distinct numbers to any `size` consecutive values of i, and places
 * consecutive values far apart.
 */
function spread(i, size) {
  return (i * (size % 7919 === 0 ? 7907 : 7919)) % size;
}

const pageSize = 20;
/** The minimum size of a page that contains a token. A page without tokens has about 90 bytes. */
const aTokenInAPage = 300;
/** The minimum size of a page that is full. */
const fullPage = pageSize * aTokenInAPage;
const repeatedIds = 500;

function get(n) {
  return { method: 'GET', path: `/tokens/bench-${n}`, headers: {} };
}

/**
 * For each workload, `request` returns the i-th request to a vault with `stored` tokens. `fresh` is the number of a
 * token that is not stored yet, and each such number is used only once. `caller` names the application whose key the
 * request carries. `expect` is the expected status. `bytesMin` is the minimum size of the response's body, so that a
 * search that finds nothing is not measured as one that does.
 */
export const works = {
  'create card': {
    caller: 'revealing',
    expect: 201,
    request: (_i, { fresh }) => post('/tokens', { ...storedToken(2 * fresh), id: undefined }),
  },
  'create 200 bytes': {
    caller: 'revealing',
    expect: 201,
    request: (_i, { fresh }) => post('/tokens', { ...storedToken(2 * fresh + 1), id: undefined }),
  },
  'get revealed': { caller: 'revealing', expect: 200, request: (i, { stored }) => get(spread(i, stored)) },
  'get revealed, 500 ids': {
    caller: 'revealing',
    expect: 200,
    request: (i, { stored }) => get(spread(i % repeatedIds, stored)),
  },
  'get masked': { caller: 'masking', expect: 200, request: (i, { stored }) => get(spread(i, stored)) },
  patch: {
    caller: 'revealing',
    expect: 200,
    request: (i, { stored, fresh }) => ({
      method: 'PATCH',
      path: `/tokens/bench-${spread(i, stored)}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata: { customer: `c-${fresh}` } }),
    }),
  },
  delete: {
    caller: 'revealing',
    expect: 204,
    request: (_i, { fresh }) => ({ method: 'DELETE', path: `/tokens/gone-${fresh}`, headers: {} }),
  },
  // Creates the tokens that the workload `delete` later deletes. Their creation is not measured.
  'create to delete': {
    caller: 'revealing',
    expect: 201,
    request: (_i, { fresh }) => post('/tokens', { ...storedToken(2 * fresh), id: `gone-${fresh}` }),
  },
  'list page': {
    caller: 'revealing',
    expect: 200,
    bytesMin: fullPage,
    request: (i, { stored }) => {
      const page = 1 + spread(i, Math.floor(stored / pageSize));
      return { method: 'GET', path: `/tokens?page=${page}&size=${pageSize}`, headers: {} };
    },
  },
  'search exact data': {
    caller: 'revealing',
    expect: 200,
    bytesMin: aTokenInAPage,
    // Only the data of every second token has a search index. A search for the other tokens would find nothing.
    request: (i, { stored }) => search(`data:"${textOf(2 * spread(i, Math.floor(stored / 2)) + 1)}"`),
  },
  'search two terms': {
    caller: 'revealing',
    expect: 200,
    bytesMin: aTokenInAPage,
    request: (i, { stored }) => search(`metadata.customer:c-${Math.floor(spread(i, stored) / 4)} AND type:card`),
  },
  'search half of all': {
    caller: 'revealing',
    expect: 200,
    bytesMin: fullPage,
    request: (i, { stored }) => {
      const page = 1 + spread(Math.floor(i / 2), Math.floor(stored / 2 / pageSize));
      return search(`metadata.half:${i % 2 === 0 ? 'left' : 'right'}`, page);
    },
  },
};
