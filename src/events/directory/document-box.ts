import type { Json } from '../../domain/json.js';
import type { BoxPlace } from '../sealing/box.js';
import { openJson, sealJson } from '../sealing/json-box.js';

type DocumentPlace = { readonly tenantId: string; readonly stream: string; readonly revision: number };

/** Seals a tenant's or an application's document under the tenant's directory key. */
export function sealDocument(directoryKey: Buffer, document: object, place: DocumentPlace): Buffer {
  return sealJson(directoryKey, document, boxPlace(place));
}

/** Opens it; undefined when it is damaged or moved. */
export function openDocument(directoryKey: Buffer, box: Uint8Array, place: DocumentPlace): Json | undefined {
  return openJson(directoryKey, box, boxPlace(place));
}

function boxPlace(place: DocumentPlace): BoxPlace {
  return { ...place, keyId: 'directory', field: 'content' };
}
