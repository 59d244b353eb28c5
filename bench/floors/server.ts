// A floor as a server: it reads the body, checks the stamp with a cached key, has keys used in another process where the
// request needs one, does one read or one durable commit and sends an answer of the service's size. Nothing is parsed,
// judged or rendered.
import { createPublicKey, ECDH, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from '../child.ts';
import { Mailer } from './mailer.ts';
import { Signers } from './signers.ts';
import { type FloorStorageSetup, openFloor } from './storage.ts';
import type { CryptoWork } from './works.ts';

export interface FloorSetup {
  /** Absent for bare HTTP, which checks no stamp and touches no database. */
  readonly storage?: FloorStorageSetup;
  readonly publicKeys: readonly string[];
  /** The service's answer for each path; its size is what counts. */
  readonly answers: Readonly<Record<string, string>>;
  /** What each path asks of keys. */
  readonly works?: Readonly<Record<string, CryptoWork>>;
  /** What is mailed to the contact in the body of each path. */
  readonly mail?: { readonly port: number; readonly texts: Readonly<Record<string, string>> };
}

const DEFAULT_ANSWER = JSON.stringify({ floor: 'x'.repeat(588) });

answerParent(async (setup: FloorSetup): Promise<{ port: number }> => {
  const storage = setup.storage && (await openFloor(setup.storage));
  const works = new Map(Object.entries(setup.works ?? {}));
  const signers = works.size === 0 ? undefined : new Signers([...works.values()]);
  const mailer = setup.mail && new Mailer(setup.mail.port);
  const keys = new Map(setup.publicKeys.map((hex) => [hex, importKey(hex)]));
  const answers = new Map(Object.entries(setup.answers));

  const work = async (path: string, header: string | undefined, body: Buffer): Promise<void> => {
    if (storage === undefined) return;
    const isQuery = path.includes('/query/');
    // The stamp names its key, so a read need not wait for the verification; a write must.
    const verified = header === undefined ? undefined : verifyStamp(keys, header, body);
    if (isQuery) await storage.read();
    await verified;
    if (isQuery) return;
    const asked = works.get(path);
    if (asked !== undefined) await signers?.do(asked);
    await storage.commit(path);
    const text = setup.mail?.texts[path];
    if (text !== undefined) mailer?.send((JSON.parse(body.toString()) as { contact: string }).contact, text);
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const url = request.url ?? '';
      const answer = answers.get(url) ?? DEFAULT_ANSWER;
      work(url, request.headers['x-stamp'] as string | undefined, body).then(
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

async function verifyStamp(
  keys: ReadonlyMap<string, ReturnType<typeof importKey>>,
  header: string,
  body: Buffer,
): Promise<void> {
  const stamp = JSON.parse(Buffer.from(header, 'base64url').toString()) as { publicKey: string; signature: string };
  const key = keys.get(stamp.publicKey);
  if (key === undefined) throw new Error('unknown key');
  const signature = Buffer.from(stamp.signature, 'hex');
  const isValid = await new Promise<boolean>((resolve, reject) => {
    verify('sha256', body, key, signature, (error, valid) => (error ? reject(error) : resolve(valid)));
  });
  if (!isValid) throw new Error('bad signature');
}

function importKey(hex: string) {
  const point = ECDH.convertKey(hex, 'prime256v1', 'hex', 'hex', 'uncompressed') as string;
  const x = Buffer.from(point.slice(2, 66), 'hex').toString('base64url');
  const y = Buffer.from(point.slice(66), 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
}
