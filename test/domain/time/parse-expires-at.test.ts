import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExpiresAt } from '#src/domain/time.js';

function iso(text: string): string | null {
  const ms = parseExpiresAt(text);
  return ms === null ? null : new Date(ms).toISOString();
}

describe('a time is accepted in each of these formats', () => {
  it.each([
    ['1/31/2026 1:02:03 PM +00:00', '2026-01-31T13:02:03.000Z'],
    ['01/31/2026 01:02:03 PM +00:00', '2026-01-31T13:02:03.000Z'],
    ['1/31/2026 12:00:00 AM +02:00', '2026-01-30T22:00:00.000Z'],
    ['1/31/2026 12:00:00 PM -05:30', '2026-01-31T17:30:00.000Z'],
    ['12/31/2026 11:59:59 PM -14:00', '2027-01-01T13:59:59.000Z'],
    ['1/1/2026 12:00:00 AM +14:00', '2025-12-31T10:00:00.000Z'],
    ['8/1/2030 12:30:00 AM', '2030-08-01T00:30:00.000Z'],
    ['8/1/2030 12:30:00 PM', '2030-08-01T12:30:00.000Z'],
    ['8/1/2030 9:05:00 am', '2030-08-01T09:05:00.000Z'],
    ['8/1/2030 9:05:00\u202fAM', '2030-08-01T09:05:00.000Z'],
    ['8/1/2030', '2030-08-01T00:00:00.000Z'],
    ['2/29/2028', '2028-02-29T00:00:00.000Z'],
    ['2030-08-01', '2030-08-01T00:00:00.000Z'],
    ['2030-08-01T09:05', '2030-08-01T09:05:00.000Z'],
    ['2030-08-01T09:05:06', '2030-08-01T09:05:06.000Z'],
    ['2030-08-01T09:05:06Z', '2030-08-01T09:05:06.000Z'],
    ['2030-08-01t09:05:06z', '2030-08-01T09:05:06.000Z'],
    ['2030-08-01T09:05:06+00:00', '2030-08-01T09:05:06.000Z'],
    ['2030-08-01T09:05:06-02:30', '2030-08-01T11:35:06.000Z'],
    ['2030-08-01T09:05:06+0230', '2030-08-01T06:35:06.000Z'],
    ['2030-08-01T09:05:06+02', '2030-08-01T07:05:06.000Z'],
    ['2030-08-01T09:05:06.5', '2030-08-01T09:05:06.500Z'],
    ['2030-08-01T09:05:06,25Z', '2030-08-01T09:05:06.250Z'],
    ['2030-08-01T09:05:06.1239999+00:00', '2030-08-01T09:05:06.123Z'],
    ['0050-01-01', '0050-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is read as %s', (text, moment) => {
    expect(iso(text)).toBe(moment);
  });
});

describe('invalid times', () => {
  it.each([
    '',
    'tomorrow',
    '1785542400',
    '2/30/2026',
    '2/29/2027',
    '2/29/2100',
    '13/1/2026',
    '0/1/2026',
    '1/0/2026',
    '1/32/2026',
    '4/31/2026',
    '1/31/26',
    '1/31/20266',
    '001/31/2026',
    '1/31/2026 ',
    ' 1/31/2026',
    '1/31/2026\n',
    '1/31/2026 0:00:00 AM',
    '1/31/2026 13:00:00 PM',
    '1/31/2026 24:61:00 AM',
    '1/31/2026 1:60:00 AM',
    '1/31/2026 1:00:60 AM',
    '1/31/2026 1:00:00',
    '1/31/2026 1:00 AM',
    '1/31/2026 1:00:00 AM 00:00',
    '1/31/2026 1:00:00 AM +14:01',
    '1/31/2026 1:00:00 AM -14:30',
    '1/31/2026 1:00:00 AM +15:00',
    '1/31/2026 1:00:00 AM +01:60',
    '1/31/2026 1:00:00 AM +1:00',
    '1/31/2026 1:00:00 AM Z',
    '1/31/2026 1:00:00 XM',
    '2026-02-30',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-1-1',
    '20260131',
    '2026-01-31T',
    '2026-01-31T24:61',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12',
    '2026-01-31T12:60:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00+14:01',
    '2026-01-31T12:00:00-99:00',
    '2026-01-31T12:00:00+01:60',
    '2026-01-31T12:00:00ZZ',
    '2026-01-31 12:00:00',
    '+002026-01-31',
    '-2026-01-31',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+00:01',
    '２０２６-01-31',
  ])('%j is rejected', (text) => {
    expect(iso(text)).toBeNull();
  });
});

describe('times that are written and read back', () => {
  const second = fc.integer({ min: -62_167_000_000, max: 253_402_000_000 });
  const offset = fc.integer({ min: -840, max: 840 });
  const two = (value: number) => String(value).padStart(2, '0');
  const offsetText = (minutes: number) =>
    `${minutes < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  /** Returns a date whose UTC fields are the local time at this offset. */
  const wall = (ms: number, minutes: number) => new Date(ms + minutes * 60_000);

  it('are the same in the format M/D/YYYY h:mm:ss AM|PM with an offset', () => {
    fc.assert(
      fc.property(second, offset, (seconds, minutes) => {
        const ms = seconds * 1000;
        const at = wall(ms, minutes);
        const year = String(at.getUTCFullYear()).padStart(4, '0');
        const hour = at.getUTCHours();
        const time = `${hour % 12 || 12}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`;
        const text = `${at.getUTCMonth() + 1}/${at.getUTCDate()}/${year} ${time}`;
        expect(parseExpiresAt(`${text} ${offsetText(minutes)}`), `${text} ${offsetText(minutes)}`).toBe(ms);
        expect(parseExpiresAt(text), text).toBe(at.getTime());
      }),
    );
  });

  it('are the same in ISO 8601 with an offset and milliseconds', () => {
    fc.assert(
      fc.property(second, fc.nat(999), offset, (seconds, millis, minutes) => {
        const ms = seconds * 1000 + millis;
        const text = wall(ms, minutes).toISOString().slice(0, -1) + offsetText(minutes);
        expect(parseExpiresAt(text), text).toBe(ms);
      }),
    );
  });

  it('are at midnight UTC in both formats for dates', () => {
    fc.assert(
      fc.property(fc.integer({ min: -719_000, max: 2_932_000 }), (day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        const [year, month, date] = text.split('-');
        expect(parseExpiresAt(text), text).toBe(day * 86_400_000);
        expect(parseExpiresAt(`${Number(month)}/${Number(date)}/${year}`), text).toBe(day * 86_400_000);
      }),
    );
  });

  it('exist on the same dates as in the calendar of the JavaScript engine', () => {
    const part = (max: number) => fc.integer({ min: 0, max });
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 9999 }), part(13), part(32), (year, month, day) => {
        const date = new Date(Date.UTC(year, month - 1, day));
        const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCFullYear() === year;
        const text = `${month}/${day}/${year}`;
        expect(parseExpiresAt(text), text).toBe(exists ? date.getTime() : null);
      }),
    );
  });
});
