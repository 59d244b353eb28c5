// A floor as a server: it reads the body, checks the stamp with a cached key, does one read or one durable commit and
// sends an answer of the service's size. Nothing is parsed, judged or rendered.
import { createPublicKey, ECDH, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from '../child.ts';
import type { FloorDatabase } from './drivers.ts';
import { type CommitKind, type FloorStorage, openFloor } from './storage.ts';
import type { Unit } from './unit.ts';

export interface FloorSetup {
  /** Absent for bare HTTP, which checks no stamp and touches no database. */
  readonly storage?: { readonly database: FloorDatabase; readonly commit: CommitKind; readonly unit: Unit };
  readonly publicKeys: readonly string[];
  /** The service's answer for each path; its size is what counts. */
  readonly answers: Readonly<Record<string, string>>;
}

const DEFAULT_ANSWER = JSON.stringify({ floor: 'x'.repeat(588) });

answerParent(async (setup: FloorSetup): Promise<{ port: number }> => {
  const storage = setup.storage && (await openFloor(setup.storage.database, setup.storage.commit, setup.storage.unit));
  const keys = new Map(setup.publicKeys.map((hex) => [hex, importKey(hex)]));
  const answers = new Map(Object.entries(setup.answers));
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const url = request.url ?? '';
      const answer = answers.get(url) ?? DEFAULT_ANSWER;
      work(storage, keys, url, request.headers['x-stamp'] as string, body).then(
        () => {
          response.writeHead(200, {
            'content-type': 'application/json; charset=utf-8',
            'content-length': Buffer.byteLength(answer),
          });
          response.end(answer);
        },
        (error: Error) => response.writeHead(500, { 'content-length': 0, 'x-error': error.message }).end(),
      );
    });
  });
  server.keepAliveTimeout = 72_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port };
});

async function work(
  storage: FloorStorage | undefined,
  keys: ReadonlyMap<string, ReturnType<typeof importKey>>,
  url: string,
  header: string,
  body: Buffer,
): Promise<void> {
  if (storage === undefined) return;
  const stamp = JSON.parse(Buffer.from(header, 'base64url').toString()) as { publicKey: string; signature: string };
  const key = keys.get(stamp.publicKey);
  if (key === undefined) throw new Error('unknown key');
  const verified = new Promise<boolean>((resolve, reject) => {
    const signature = Buffer.from(stamp.signature, 'hex');
    verify('sha256', body, key, signature, (error, valid) => (error ? reject(error) : resolve(valid)));
  });
  const isSubmit = url.includes('/submit/');
  // The stamp names its key, so a read need not wait for the verification; a write must.
  if (!isSubmit) await storage.read();
  if (!(await verified)) throw new Error('bad signature');
  if (isSubmit) await storage.commit();
}

function importKey(hex: string) {
  const point = ECDH.convertKey(hex, 'prime256v1', 'hex', 'hex', 'uncompressed') as string;
  const x = Buffer.from(point.slice(2, 66), 'hex').toString('base64url');
  const y = Buffer.from(point.slice(66), 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
}
