import { nearest } from '../../domain/nearest.js';
import { nearestPlainField } from '../query/read-field.js';
import { metadataHead } from './metadata-head.js';
import type { VisibleWords } from './visible-words.js';

const comparedLengthMax = 100;
/** `metadata.` and a key, mistyped. */
const metadataLike = /^meta?[^.]{0,8}\.(.+)$/isu;

/**
 * What an unknown field was meant to be: a field, or a metadata key that the caller may be told of, written as
 * `metadata.customer`. Of equally near ones the field.
 */
export function nearestField(name: string, { keys }: VisibleWords): string {
  const field = nearestPlainField(name);
  const whole = keys.nearest(name);
  const part = keys.nearest(metadataLike.exec(name)?.[1] ?? '');
  const key = whole === undefined ? part : nearest(name.slice(0, comparedLengthMax), [field, whole]);
  return key === undefined || key === field ? field : metadataHead(key);
}
