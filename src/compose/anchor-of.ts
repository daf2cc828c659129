import { commandAnchor } from '../adapters/anchor/command-anchor.js';
import { fileAnchor } from '../adapters/anchor/file-anchor.js';
import type { Anchor } from '../ports/anchor.js';
import type { Settings } from './config/settings.js';

/**
 * Returns the anchor configured by the setting `audit.anchor`. The setting is either the path of a file, or a program
 * with its arguments. Returns null if the setting is null.
 */
export function anchorOf(setting: Settings['audit.anchor']): Anchor | null {
  if (setting === null) return null;
  return typeof setting === 'string' ? fileAnchor(setting) : commandAnchor(setting);
}
