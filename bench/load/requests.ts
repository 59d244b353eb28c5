import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { KeyPair } from '../../packages/server/test/harness/client.ts';

/** What a window sends. Stamps are made before the clock starts, so that they cost the measured time nothing. */
export type Workload =
  /** The same body again and again, under stamps that differ. */
  | { readonly kind: 'query'; readonly path: string; readonly key: KeyPair; readonly body: string }
  /**
   * Each of the parameters in turn, as JSON with COUNT where a number that no other request has belongs, each stamped by
   * the next of the keys.
   */
  | {
      readonly kind: 'submit';
      readonly path: string;
      readonly keys: readonly KeyPair[];
      readonly organizationId: string;
      readonly type: string;
      readonly parameters: readonly string[];
    };

/** Stands in the parameters for nine digits, the first of them not 0. */
export const COUNT = '{count}';
export const COUNT_DIGITS = 9;
/** The number before those of the requests. */
export const COUNT_FIRST = 100_000_000;

const QUERY_STAMPS = 512;
/** Bodies may be an hour old. Where the parameters do not differ, each takes a millisecond of its own before now. */
let timestampMs = Date.now() - 30 * 60 * 1000;
let count = COUNT_FIRST;

/** Whole requests as they go over the wire. */
export function prepareRequests(workload: Workload, wanted: number): Buffer[] {
  const { path } = workload;
  if (workload.kind === 'query') {
    const signer = signerOf(workload.key);
    const body = Buffer.from(workload.body);
    return Array.from({ length: Math.min(wanted, QUERY_STAMPS) }, () => render(path, signer, body));
  }
  const signers = workload.keys.map(signerOf);
  return Array.from({ length: wanted }, () => {
    count += 1;
    return render(path, inTurn(signers), Buffer.from(submitBody(workload)));
  });
}

function submitBody({ type, organizationId, parameters }: Extract<Workload, { kind: 'submit' }>): string {
  const template = inTurn(parameters);
  const differs = template.includes(COUNT);
  if (!differs) timestampMs += 1;
  const head = JSON.stringify({ type, timestampMs: String(differs ? Date.now() : timestampMs), organizationId });
  return `${head.slice(0, -1)},"parameters":${template.replaceAll(COUNT, String(count))}}`;
}

const inTurn = <T>(all: readonly T[]): T => all[count % all.length] as T;

interface Signer {
  readonly publicKey: string;
  readonly key: KeyObject;
}

const signerOf = (pair: KeyPair): Signer => ({ publicKey: pair.publicKey, key: importKey(pair) });

function render(path: string, { publicKey, key }: Signer, body: Buffer): Buffer {
  const signature = sign('sha256', body, key).toString('hex');
  const stamp = { publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature };
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `x-stamp: ${Buffer.from(JSON.stringify(stamp)).toString('base64url')}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

function importKey({ publicKey, privateKey }: KeyPair): KeyObject {
  // PKCS #8 with the private scalar alone; OpenSSL computes the point.
  const prefix = '3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420';
  if (publicKey.length !== 66) throw new Error('expected a compressed P-256 key');
  return createPrivateKey({ key: Buffer.from(prefix + privateKey, 'hex'), format: 'der', type: 'pkcs8' });
}
