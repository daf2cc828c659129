const shape = /^([+-])(\d{2})(?::?(\d{2}))?$/;

/**
 * Minutes east of UTC of `Z`, `±hh:mm`, `±hhmm` or `±hh`; undefined means UTC. null when it is none of these or its
 * minutes exceed 59. How far an offset may go is decided by `instantOf`.
 */
export function parseOffset(text: string | undefined): number | null {
  if (text === undefined || text === 'Z' || text === 'z') return 0;
  const [, sign, hours, minutes = '0'] = shape.exec(text) ?? [];
  if (hours === undefined || Number(minutes) > 59) return null;
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
}
