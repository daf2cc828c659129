import { parseJsonBody } from '../../http/body/parse-json-body.js';
import type { TextForm } from './setting.js';

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };

/** The value that a text stands for; the text itself when it stands for none, which the setting's schema then refuses. */
export function fromText(text: string, form: TextForm): unknown {
  switch (form) {
    case 'text':
      return text;
    case 'number':
      return /^\d{1,15}$/.test(text) ? Number(text) : text;
    case 'boolean':
      return Object.hasOwn(booleans, text) ? booleans[text] : text;
    case 'list':
      return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
    case 'json': {
      const parsed = parseJsonBody(text);
      return parsed.ok ? parsed.value : text;
    }
  }
}
