import type { Access } from '../access/access.js';
import type { AccessDocument } from './documents.js';

/** What an application may do, as it is stored. */
export function documentOf(access: Access): AccessDocument {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: [...access.permissions] };
}

/** And back, as decisions on tokens ask for it. */
export function accessOf(access: AccessDocument): Access {
  return access.kind === 'rules' ? access : { kind: 'permissions', permissions: new Set(access.permissions) };
}
