import { nearest } from '../../domain/nearest.js';
import { settingPaths } from './settings.js';

/** What is wrong with a name that no setting has, written as its source writes names. */
export function unknownSetting(path: string, nameOf: (path: string) => string): string {
  if (path === 'root_key') {
    return (
      `the root key is never a setting, so that it shows up in no list of variables; put it into a file for its owner ` +
      `alone and set ${nameOf('root_key_file')} to the path`
    );
  }
  return `is no setting; the nearest is ${nameOf(nearest(path, settingPaths) ?? '')}`;
}
