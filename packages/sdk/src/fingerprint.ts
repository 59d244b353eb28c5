import { sha256, toHex, toUtf8 } from './bytes.ts';

/** The fingerprint of a body: what the service knows an activity by before it has an id. */
export async function fingerprintOf(body: string | Uint8Array): Promise<string> {
  return `sha256:${toHex(await sha256(exactBytes(body)))}`;
}

/** The bytes that are signed and sent. A copy, so that nobody changes them between the two. */
export const exactBytes = (body: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? toUtf8(body) : new Uint8Array(body);
