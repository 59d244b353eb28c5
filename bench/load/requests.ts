import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { KeyPair } from '../../packages/server/test/harness/client.ts';

/** What a window sends. Stamps are made before the clock starts, so that they cost the measured time nothing. */
export type Workload =
  /** The same body again and again, under stamps that differ. */
  | { readonly kind: 'query'; readonly path: string; readonly key: KeyPair; readonly body: string }
  /** update_user_name on each user in turn; every body is a new activity. */
  | {
      readonly kind: 'rename';
      readonly path: string;
      readonly key: KeyPair;
      readonly organizationId: string;
      readonly userIds: readonly string[];
    };

const QUERY_STAMPS = 512;
/** Bodies may be an hour old; each takes a millisecond of its own in the half hour before the bench started. */
let timestampMs = Date.now() - 30 * 60 * 1000;
let renames = 0;

/** Whole requests as they go over the wire. */
export function prepareRequests(workload: Workload, count: number): Buffer[] {
  const key = importKey(workload.key);
  if (workload.kind === 'query') {
    const body = Buffer.from(workload.body);
    return Array.from({ length: Math.min(count, QUERY_STAMPS) }, () => render(workload, key, body));
  }
  const { organizationId, userIds } = workload;
  return Array.from({ length: count }, () => {
    timestampMs += 1;
    renames += 1;
    const body = JSON.stringify({
      type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
      timestampMs: String(timestampMs),
      organizationId,
      parameters: {
        userId: userIds[renames % userIds.length],
        userName: `Renamed ${String(renames).padStart(9, '0')}`,
      },
    });
    return render(workload, key, Buffer.from(body));
  });
}

function render({ path, key: { publicKey } }: Workload, key: KeyObject, body: Buffer): Buffer {
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
