import { describe, expect, test } from 'vitest';
import { parseQuery } from '#src/search/query/parse-query.js';

const operator = 'an operator is missing between two terms: AND, OR or NOT';
const bareWord = 'a field is missing; a term has the form field:value';
const capitals = 'AND, OR and NOT must be in capitals';
const missingTerm = 'a term is missing here';
const missingValue = 'a value is missing after the colon';
const star = '* is only allowed at the end of a container path, after /, and as an open end of a range';
const needsQuotes = 'a value with this character needs quotes';
const onlyInQuotes = 'this character is only allowed in a value in double quotes';
const notADate = 'not an ISO 8601 date or date-time, such as 2026-01-31';
const range = 'a range has the form [start TO end]';

/** A 400 response contains the position of the error. A wrong position would mislead the reader. */
describe('an error names the problem and its character position', () => {
  test.for<[query: string, character: number, message: string]>([
    ['type:a type:b', 8, operator],
    ['type:a (type:b)', 8, operator],
    ['(type:a) type:b', 10, operator],
    ['NOT type:a type:b', 12, operator],
    ['card', 1, `${bareWord}; did you mean \`type:card\`?`],
    ['type:a AND cart', 12, bareWord],
    ['"two words"', 1, bareWord],
    ['type:two words', 10, bareWord],
    ['type:a and type:b', 8, capitals],
    ['type:a or type:b', 8, capitals],
    ['not type:b', 1, capitals],
    ['And', 1, capitals],
    ['', 0, ''],
    ['AND type:a', 1, missingTerm],
    ['type:a AND', 11, missingTerm],
    ['type:a AND OR type:b', 12, missingTerm],
    ['type:a OR', 10, missingTerm],
    ['NOT', 4, missingTerm],
    ['-', 2, missingTerm],
    ['()', 2, missingTerm],
    ['NOT AND type:a', 5, missingTerm],
    ['(type:a', 1, 'this parenthesis is not closed'],
    ['((type:a)', 1, 'this parenthesis is not closed'],
    ['type:a)', 7, 'no parenthesis was opened for this one'],
    [')', 1, missingTerm],
    ['type:', 6, missingValue],
    ['type: card', 6, missingValue],
    ['(type:)', 7, missingValue],
    ['type:(a OR b)', 6, needsQuotes],
    ['type:a;b', 7, onlyInQuotes],
    ['type:a"b"', 7, onlyInQuotes],
    ['type:a(b', 7, onlyInQuotes],
    ['type:a\\b', 7, onlyInQuotes],
    ['type:a?', 7, onlyInQuotes],
    ['type:?', 6, needsQuotes],
    ['type:<a>', 6, needsQuotes],
    ['type:"a"b', 9, 'a space is missing after the value'],
    ['type:"a"AND type:b', 9, 'a space is missing after the value'],
    ['type:"a', 6, 'the closing quote is missing'],
    ['type:"a\\"', 6, 'the closing quote is missing'],
    ['type:"a\\n"', 8, 'in quotes, a backslash must be followed by a quote or a backslash'],
    ['type:"a\\', 8, 'in quotes, a backslash must be followed by a quote or a backslash'],
    ['type:"\ud800"', 7, 'the text is not well-formed Unicode'],
    ['data:😀', 6, needsQuotes],
    ['data:"😀" type:b', 10, operator],
    ['@:a', 1, 'unexpected character; a term has the form field:value'],
    ['*', 1, 'unexpected character; a term has the form field:value'],
    ['*:*', 1, 'unexpected character; a term has the form field:value'],
    ['+type:a', 1, 'unexpected character; a term has the form field:value'],
    ['type:a && type:b', 8, 'unexpected character; a term has the form field:value'],
    ['metadata:v', 1, 'unknown field; did you mean `metadata.<key>`?'],
    ['metadata.:v', 10, 'a metadata key is missing: write metadata.<key>:<value>'],
    ['metadata."":v', 10, 'a metadata key is missing: write metadata.<key>:<value>'],
    ['metadata."a"', 13, 'a metadata key must be followed by a colon and a value'],
    ['metadata."a" :v', 13, 'a metadata key must be followed by a colon and a value'],
    ['data:*', 6, star],
    ['data:ab*', 8, star],
    ['id:*x', 4, star],
    ['metadata.key:*', 14, star],
    ['type:card*', 10, star],
    ['container:/pci/*/', 16, star],
    ['container:/p*i/', 13, star],
    ['container:/pci*', 15, star],
    ['container:"/p*/"', 11, star],
    ['container:*', 11, star],
    ['container:/pci', 11, 'a container path must end in / or /*'],
    ['container:"/pci"', 11, 'a container path must end in / or /*'],
    ['container:pci/', 11, 'a container path must start with /'],
    ['container:""', 11, 'a container path must start with /'],
    ['created_at:yesterday', 12, notADate],
    ['created_at:2026-02-30', 12, notADate],
    ['created_at:*', 12, notADate],
    ['created_at:1/31/2026', 12, notADate],
    ['created_at:[2026-01-01 TO x]', 27, notADate],
    ['created_at:["*" TO *]', 13, notADate],
    ['created_at:[2026-01-01 to 2026-01-31]', 24, 'the TO of a range must be in capitals'],
    ['created_at:[2026-01-01]', 23, range],
    ['created_at:[2026-01-01 2026-01-31]', 24, range],
    ['created_at:["2026-01-01"TO *]', 25, range],
    ['created_at:[* TO"2026-01-01"]', 17, range],
    ['created_at:[TO *]', 16, range],
    ['created_at:[]', 13, 'a range must have a date or * at each end'],
    ['created_at:[* TO ]', 18, 'a range must have a date or * at each end'],
    ['created_at:[* TO *', 19, 'a range must end with ] or }'],
    ['created_at:[* TO *)', 19, 'a range must end with ] or }'],
    ['data:[a TO b]', 6, 'only created_at and modified_at accept a range'],
    ['container:[* TO *]', 11, 'only created_at and modified_at accept a range'],
  ])('%s', ([query, character, message]) => {
    const result = parseQuery(query);
    if (query === '') return expect(result.ok).toBe(true);
    return expect(result).toMatchObject({ ok: false, message: `${message} (at character ${character})` });
  });
});

describe('an error about an unknown field suggests the nearest known field', () => {
  test.for([
    ['typ', 'type'],
    ['Type', 'type'],
    ['createdby', 'created_by'],
    ['created_a', 'created_at'],
    ['finger_print', 'fingerprint'],
    ['containers', 'container'],
    ['Metadata.key', 'metadata.<key>'],
    ['dat', 'data'],
    ['ID', 'id'],
    ['modifiedat', 'modified_at'],
    ['metadat', 'metadata.<key>'],
    ['TYPE', 'type'],
    ['MODIFIED_BY', 'modified_by'],
    ['created', 'created_at'],
    ['modified', 'modified_at'],
    ['cont', 'container'],
    ['finger', 'fingerprint'],
    ['meta', 'metadata.<key>'],
    ['metadata_run', 'metadata.<key>'],
  ])('%s: %s', ([field, nearest]) => {
    const result = parseQuery(`${field}:x`);
    expect(result).toMatchObject({
      ok: false,
      message: `unknown field; did you mean \`${nearest}\`? (at character 1)`,
    });
  });

  test.for(['nofield', 'AND', 'name', 'x', 'customer', 'm.key'])('or all fields if none is similar: %s', (field) => {
    const message =
      'unknown field; the fields are id, type, data, fingerprint, created_by, modified_by, container, created_at, ' +
      'modified_at and metadata.<key> (at character 1)';
    expect(parseQuery(`${field}:x`)).toMatchObject({ ok: false, message });
  });
});
