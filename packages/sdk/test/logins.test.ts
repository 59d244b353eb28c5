import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestServer } from '../../server/test/harness/server.ts';
import {
  ApiKeyStamper,
  AttestedStamper,
  type CustosClient,
  createClient,
  encryptOtpCode,
  fetchServiceKeys,
  generateTargetKey,
  openCredentialBundle,
  type ServiceKey,
  SessionKey,
  type Stamper,
  verifySession,
  verifyVerificationToken,
} from '../src/index.ts';

// The login helpers and a service that runs as its operators run it. The guides' programs, which
// examples/guides.test.ts
// runs, cover the rest.

const EMAIL = 'user@example.com';

let server: TestServer;
let root: CustosClient;
let serviceKeys: readonly ServiceKey[];
let organizationId: string;

const clientOf = (stamper: Stamper, id = organizationId) =>
  createClient({ baseUrl: server.baseUrl, organizationId: id, stamper });

beforeAll(async () => {
  server = await TestServer.start();
  const { apiPublicKey, apiPrivateKey, organizationId: rootId } = server.credentials;
  root = clientOf(new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey }), rootId);
  serviceKeys = await fetchServiceKeys(server.baseUrl);
  await root.setOrganizationFeature({ name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' });
  const user = { userName: 'User', userEmail: EMAIL, apiKeys: [], authenticators: [], oauthProviders: [] };
  const child = { subOrganizationName: 'User', rootQuorumThreshold: 1, rootUsers: [user] };
  organizationId = (await root.createSubOrganization(child)).subOrganizationId;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A verification token for the address of the user, bound to the key. */
async function verify(key: SessionKey): Promise<string> {
  const code = { otpType: 'OTP_TYPE_EMAIL', contact: EMAIL, appName: 'Test' } as const;
  const { otpId, otpEncryptionTargetBundle: targetBundle } = await root.initOtp(code);
  const otpCode = (await vi.waitFor(sentCode)).toLowerCase();
  const encryptedOtpBundle = await encryptOtpCode({ targetBundle, otpCode, publicKey: key.publicKey, serviceKeys });
  return (await root.verifyOtp({ otpId, encryptedOtpBundle })).verificationToken;
}

async function sentCode(): Promise<string> {
  const messages = (await (await fetch(`${server.baseUrl}/dev/inbox.json`)).json()) as { text: string }[];
  const [code] = /^[0-9A-Z]{9}$/m.exec(messages[0]?.text ?? '') ?? [];
  if (code === undefined) throw new Error('no message yet');
  return code;
}

test('a token of a code logs its key in by an attested stamp, once', async () => {
  const key = await SessionKey.generate();
  const verificationToken = await verify(key);
  expect(await verifyVerificationToken(verificationToken, { serviceKeys })).toMatchObject({
    contact: EMAIL,
    verificationType: 'OTP_TYPE_EMAIL',
    organizationId: server.credentials.organizationId,
    publicKey: key.publicKey,
  });

  const attested = clientOf(new AttestedStamper({ key, verificationToken }));
  const { session } = await attested.stampLogin({ publicKey: key.publicKey });
  const claims = await verifySession(session, { serviceKeys });
  expect(claims).toMatchObject({ organizationId, publicKey: key.publicKey, sessionType: 'SESSION_TYPE_READ_WRITE' });

  // As after a reload of a page that keeps its key in IndexedDB.
  const kept = await SessionKey.from(structuredClone(key.keyPair));
  expect(await clientOf(kept).whoami()).toMatchObject({ username: 'User', userId: claims.userId });

  const again = attested.stampLogin({ publicKey: (await SessionKey.generate()).publicKey });
  await expect(again).rejects.toMatchObject({ code: 'INVALID_VERIFICATION_TOKEN' });

  const target = await generateTargetKey();
  const { credentialBundle } = await clientOf(key).createReadWriteSession({ targetPublicKey: target.publicKey });
  const pair = await openCredentialBundle({ credentialBundle, targetPrivateKey: target.privateKey });
  expect(await clientOf(new ApiKeyStamper(pair)).whoami()).toMatchObject({ userId: claims.userId });
});

test('the package needs nothing of Node, so that it runs in browsers and at the edge', () => {
  const source = new URL('../src/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const shipped = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  expect(shipped).toContain('session-key.ts');
  const strangers = shipped.filter((file) =>
    /from 'node:|import\('node:|\bBuffer\b|\bprocess\.|\brequire\(/.test(readFileSync(new URL(file, source), 'utf8')),
  );
  expect(strangers).toEqual([]);
});
