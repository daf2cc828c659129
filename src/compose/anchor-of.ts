import { commandAnchor } from '../adapters/anchor/command-anchor.js';
import { fileAnchor } from '../adapters/anchor/file-anchor.js';
import type { Anchor } from '../ports/anchor.js';
import type { Settings } from './config/settings.js';

/**
 * Returns the anchor for the setting `audit.anchor`, which is a path or a program with its arguments. Returns null if
 * the setting is null.
 */
export function anchorOf(setting: Settings['audit.anchor']): Anchor | null {
  if (setting === null) return null;
  return typeof setting === 'string' ? fileAnchor(setting) : commandAnchor(setting);
}
