// The requests of each kind of work. Everything follows from numbers, so the same run sends the same requests again, and
// the load generator needs no list of what is stored.

/** Half of all stored tokens are cards, half generic tokens of 200 bytes; this is the n-th line of what is imported. */
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

/** 200 bytes that no other number gives. */
function textOf(n) {
  return `secret-${n}-`.padEnd(200, 'abcdefghijklmnopqrstuvwxyz0123456789');
}

/** 16 digits with a right check digit. */
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

function search(query) {
  return post('/tokens/search', { query });
}

/** A stored number, spread over all of them: neighbours in time are no neighbours in the store. */
function spread(i, stored) {
  return (i * 7919) % stored;
}

/**
 * What is asked by the i-th request of each work, of a vault with `stored` tokens. `fresh` numbers tokens that are not
 * stored yet, and each is used once. `caller`: the application whose key is sent. `expect`: the status.
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
  'get revealed': {
    caller: 'revealing',
    expect: 200,
    request: (i, { stored }) => ({ method: 'GET', path: `/tokens/bench-${spread(i, stored)}`, headers: {} }),
  },
  'get masked': {
    caller: 'masking',
    expect: 200,
    request: (i, { stored }) => ({ method: 'GET', path: `/tokens/bench-${spread(i, stored)}`, headers: {} }),
  },
  // What every answer costs, with no vault behind it.
  'no vault': {
    caller: 'revealing',
    expect: 200,
    request: () => ({ method: 'GET', path: '/health/live', headers: {} }),
  },
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
  // What `delete` deletes; not measured.
  'create to delete': {
    caller: 'revealing',
    expect: 201,
    request: (_i, { fresh }) => post('/tokens', { ...storedToken(2 * fresh), id: `gone-${fresh}` }),
  },
  'list page': {
    caller: 'revealing',
    expect: 200,
    request: () => ({ method: 'GET', path: '/tokens?page=1&size=20', headers: {} }),
  },
  'search exact data': {
    caller: 'revealing',
    expect: 200,
    request: (i, { stored }) => {
      const n = spread(i, stored);
      return search(`data:"${n % 2 === 0 ? cardNumber(n) : textOf(n)}"`);
    },
  },
  'search two terms': {
    caller: 'revealing',
    expect: 200,
    request: (i, { stored }) => search(`metadata.customer:c-${Math.floor(spread(i, stored) / 4)} AND type:card`),
  },
  'search half of all': {
    caller: 'revealing',
    expect: 200,
    request: (i) => search(`metadata.half:${i % 2 === 0 ? 'left' : 'right'}`),
  },
};
