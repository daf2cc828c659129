import { BackupRefused } from '../../ports/backup.js';

/** Returns the error of a backup that a rotation makes useless. `complete` means that the rotation has ended. */
export function rotationRefused(rotation: 'running' | 'complete'): BackupRefused {
  return new BackupRefused(
    rotation === 'running'
      ? 'the keys are being rotated. Finish that (`strongroom keys rotate --all`), then try again.'
      : 'the keys were rotated during the backup. Try again.',
  );
}
