import { z } from 'zod';

/** An origin exactly as a browser sends it. `*` is none: a vault names who may call it from a page. */
export const origin = z.string({ error: 'must be text' }).refine(isOrigin, {
  error: 'must be an origin as browsers send it, such as https://app.example.com, without a path',
});

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
