// Passkeys as a browser makes and uses them: Chromium with virtual authenticators, the public WebAuthn stamper and HTTP
// client bundled into a page, and the service on another origin.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Server } from 'node:http';
import type { TurnkeyClient } from '@turnkey/http';
import type { WebauthnStamper } from '@turnkey/webauthn-stamper';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  createUser,
  currentType,
  newKeyPair,
  send,
  TestClient,
} from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import {
  type AuthenticatorKind,
  bundlePage,
  closePage,
  Device,
  FORMATS,
  type Format,
  isBrowserMissing,
  KIND_OF,
  launchBrowser,
  servePage,
} from './browser.ts';

const ES256 = -7;
const EDDSA = -8;
const RS256 = -257;

/** What the page offers the tests; everything that matters in it is the public packages'. */
const PAGE_SOURCE = `
import { getWebAuthnAttestation, TurnkeyClient } from '@turnkey/http';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

const random = (length) => crypto.getRandomValues(new Uint8Array(length));
const toBase64url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const fromBase64url = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const stamperOf = ({ rpId, allow }) =>
  new WebauthnStamper({
    rpId,
    allowCredentials: allow.map((id) => ({ id: fromBase64url(id), type: 'public-key' })),
  });

export async function register({ rpId, attestation, algorithms, isResident }) {
  const challenge = random(32);
  const made = await getWebAuthnAttestation({
    publicKey: {
      rp: { id: rpId, name: 'Test' },
      user: { id: random(16), name: 'user', displayName: 'User' },
      challenge,
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      attestation,
      timeout: 10_000,
      authenticatorSelection: isResident
        ? { residentKey: 'required', userVerification: 'preferred' }
        : { residentKey: 'discouraged', userVerification: 'discouraged' },
    },
  });
  return { challenge: toBase64url(challenge), attestation: made };
}

export async function stamp({ payload, ...credential }) {
  return await stamperOf(credential).stamp(payload);
}

export async function call({ baseUrl, method, body, ...credential }) {
  const client = new TurnkeyClient({ baseUrl }, stamperOf(credential));
  try {
    return { answer: await client[method](body) };
  } catch (error) {
    return { error: { name: error.name, message: error.message, code: error.code, details: error.details } };
  }
}
`;

interface Registration {
  readonly challenge: string;
  readonly attestation: {
    readonly credentialId: string;
    readonly clientDataJson: string;
    readonly attestationObject: string;
    readonly transports: readonly string[];
  };
}

interface Called {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers is asserted on.
  readonly answer?: any;
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly code?: number;
    readonly details?: unknown;
  };
}

type Stamp = Awaited<ReturnType<WebauthnStamper['stamp']>>;

/** What the page does for the tests, on one device. */
class PasskeyDevice implements AsyncDisposable {
  readonly #device: Device;

  private constructor(device: Device) {
    this.#device = device;
  }

  static async open(browser: Browser, origin: string, kind: AuthenticatorKind): Promise<PasskeyDevice> {
    return new PasskeyDevice(await Device.open(browser, origin, kind));
  }

  get origin(): string {
    return this.#device.origin;
  }

  async visit(origin: string): Promise<void> {
    await this.#device.visit(origin);
  }

  async register(
    options: { attestation?: 'none' | 'direct'; algorithms?: number[]; rpId?: string } = {},
  ): Promise<Registration> {
    const { attestation = 'none', algorithms = [ES256, RS256], rpId = this.#device.rpId } = options;
    return (await this.#device.run('register', {
      attestation,
      algorithms,
      rpId,
      isResident: this.#device.kind !== 'u2f',
    })) as Registration;
  }

  /** A method of the public client, stamped by this device and sent by the browser. */
  async call(
    baseUrl: string,
    method: keyof TurnkeyClient,
    body: unknown,
    allow: string[] = [],
    rpId = this.#device.rpId,
  ): Promise<Called> {
    return (await this.#device.run('call', { baseUrl, method, body, allow, rpId })) as Called;
  }

  /** Only the stamp. */
  async stamp(payload: string, allow: string[] = []): Promise<Stamp> {
    return (await this.#device.run('stamp', { payload, allow, rpId: this.#device.rpId })) as Stamp;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#device[Symbol.asyncDispose]();
  }
}

const paramsOf = ({ challenge, attestation }: Registration, authenticatorName = 'passkey') => ({
  authenticatorName,
  challenge,
  attestation,
});

const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest();

/** A COSE key as these authenticators write it. */
function importCose(hex: string): KeyObject {
  const ec = /^a5010203262001215820([0-9a-f]{64})225820([0-9a-f]{64})$/.exec(hex);
  const rsa = /^a401030339010020590100([0-9a-f]{512})2143010001$/.exec(hex);
  const text = (part: string | undefined): string => Buffer.from(part ?? '', 'hex').toString('base64url');
  if (ec !== null) {
    const key = { kty: 'EC', crv: 'P-256', x: text(ec[1]), y: text(ec[2]) };
    return createPublicKey({ format: 'jwk', key });
  }
  if (rsa !== null) return createPublicKey({ format: 'jwk', key: { kty: 'RSA', n: text(rsa[1]), e: 'AQAB' } });
  throw new Error(`not a known COSE key: ${hex}`);
}

/** Checks a vote with nothing but what the activity shows. */
// biome-ignore lint/suspicious/noExplicitAny: the public types do not know our `webauthn`.
function expectVerifiable(vote: any, origin: string): void {
  expect(vote.scheme).toBe('SIGNATURE_SCHEME_TK_WEBAUTHN');
  const clientDataJson = Buffer.from(vote.webauthn.clientDataJson, 'base64url');
  expect(JSON.parse(clientDataJson.toString('utf8'))).toMatchObject({
    type: 'webauthn.get',
    challenge: Buffer.from(sha256(vote.message).toString('hex')).toString('base64url'),
    origin,
  });
  const signed = Buffer.concat([
    Buffer.from(vote.webauthn.authenticatorData, 'base64url'),
    createHash('sha256').update(clientDataJson).digest(),
  ]);
  const signature = Buffer.from(vote.signature, 'base64url');
  expect(verify('sha256', signed, importCose(vote.publicKey), signature)).toBe(true);
  signed[33] = (signed[33] as number) ^ 1;
  expect(verify('sha256', signed, importCose(vote.publicKey), signature)).toBe(false);
  const held = vote.user.authenticators.find(
    (item: { credentialId: string }) => item.credentialId === vote.webauthn.credentialId,
  );
  expect(held.credential.publicKey).toBe(vote.publicKey);
}

const submitOf = (operation: string, organizationId: string, parameters: unknown) => ({
  type: currentType(operation),
  timestampMs: String(Date.now()),
  organizationId,
  parameters,
});

let serial = 0;
/** A name that no other test of this file uses. */
const fresh = (word: string): string => {
  serial += 1;
  return `${word} ${serial}`;
};

describe.skipIf(isBrowserMissing)('passkeys in a browser', () => {
  let browser: Browser;
  const servers: Server[] = [];
  /** Where the application lives. */
  let origin: string;
  /** Another site that may use the same passkeys, since the relying party is localhost for both. */
  let otherOrigin: string;
  /** A site whose relying party is its parent domain. */
  let nestedOrigin: string;

  beforeAll(async () => {
    const script = bundlePage({ source: PAGE_SOURCE });
    const [here, there] = [await servePage(script), await servePage(script)];
    servers.push(here.server, there.server);
    origin = `http://localhost:${here.port}`;
    otherOrigin = `http://localhost:${there.port}`;
    nestedOrigin = `http://sub.app.localhost:${here.port}`;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    for (const server of servers) closePage(server);
  });

  // The packages talk to the same API on either database; both are tested beneath it.
  describe.each(['sqlite'] as const)('on %s', (database) => {
    let service: TestServer;
    let root: TestClient;

    beforeAll(async () => {
      service = await TestServer.start({ database });
      root = TestClient.root(service.credentials, service.baseUrl);
    });

    afterAll(async () => {
      await service?.[Symbol.asyncDispose]();
    });

    const openDevice = (kind: AuthenticatorKind = 'platform', at = origin) => PasskeyDevice.open(browser, at, kind);

    /** A registration whose statement has the wanted format. */
    const registerAs = (device: PasskeyDevice, format: Format) =>
      device.register({ attestation: format === 'none' ? 'none' : 'direct' });

    const addPasskey = (client: TestClient, userId: string, registration: Registration, name = fresh('passkey')) =>
      client.submit('create_authenticators', { userId, authenticators: [paramsOf(registration, name)] });

    /** A user of the root organization that has one passkey and no root powers. */
    const createHolder = async (device: PasskeyDevice) => {
      const registration = await device.register();
      const user = await createUser(root, fresh('holder'), { authenticators: [paramsOf(registration)] });
      return { user, registration, allow: [registration.attestation.credentialId] };
    };

    /** A sub-organization of a root user with a passkey and, if wanted, more with API keys. */
    const createChild = async (registration: Registration, threshold = 1, keys: number = 0) => {
      const others = Array.from({ length: keys }, () => newKeyPair());
      const { subOrganizationId, rootUserIds } = await root.run('create_sub_organization', {
        subOrganizationName: fresh('child'),
        rootQuorumThreshold: threshold,
        rootUsers: [
          { userName: 'holder', apiKeys: [], authenticators: [paramsOf(registration)], oauthProviders: [] },
          ...others.map((key, index) => ({
            userName: `member ${index}`,
            apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
            authenticators: [],
            oauthProviders: [],
          })),
        ],
      });
      return {
        id: subOrganizationId as string,
        holderId: rootUserIds[0] as string,
        members: others.map(
          (key, index) => new TestClient(service.baseUrl, subOrganizationId, key, rootUserIds[index + 1]),
        ),
      };
    };

    describe('registration', () => {
      test.each(FORMATS)('a statement of format %s, then a stamp', async (format) => {
        await using device = await openDevice(KIND_OF[format]);
        const registration = await registerAs(device, format);
        const { credentialId, transports } = registration.attestation;
        const user = await createUser(root, fresh('user'));
        const { status, body } = await addPasskey(root, user.userId, registration);
        expect(status, JSON.stringify(body)).toBe(200);
        const [authenticatorId] = body.activity.result.createAuthenticatorsResult.authenticatorIds;
        const { authenticator } = (await root.query('get_authenticator', { authenticatorId })).body;
        expect(authenticator).toMatchObject({
          credentialId,
          transports,
          attestationType: format,
          credential: { type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
        });
        const { organizationId } = root;
        const who = await device.call(service.baseUrl, 'getWhoami', { organizationId }, [credentialId]);
        expect(who).toEqual({
          answer: {
            organizationId,
            organizationName: 'My organization',
            userId: user.userId,
            username: expect.anything(),
          },
        });
        // A user may do this itself, now with the passkey alone.
        const key = newKeyPair();
        const added = await device.call(
          service.baseUrl,
          'createApiKeys',
          submitOf('create_api_keys', organizationId, {
            userId: user.userId,
            apiKeys: [{ apiKeyName: 'by passkey', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          }),
          [credentialId],
        );
        expect(added.answer?.activity.status, JSON.stringify(added)).toBe('ACTIVITY_STATUS_COMPLETED');
        expectVerifiable(added.answer.activity.votes[0], device.origin);
      });

      test.each(FORMATS)('format %s on the root user of a new sub-organization', async (format) => {
        await using device = await openDevice(KIND_OF[format]);
        const registration = await registerAs(device, format);
        const { credentialId } = registration.attestation;
        const child = await createChild(registration);
        const expected = { organizationId: child.id, userId: child.holderId, username: 'holder' };
        // A client that knows only the parent's id is told where it belongs.
        for (const organizationId of [child.id, root.organizationId]) {
          const who = await device.call(service.baseUrl, 'getWhoami', { organizationId }, [credentialId]);
          expect(who.answer, JSON.stringify(who)).toMatchObject(expected);
        }
        const found = await root.query('list_suborgs', { filterType: 'CREDENTIAL_ID', filterValue: credentialId });
        expect(found.body.organizationIds).toEqual([child.id]);
        const made = await device.call(
          service.baseUrl,
          'createUserTag',
          submitOf('create_user_tag', child.id, { userTagName: 'made', userIds: [child.holderId] }),
          [credentialId],
        );
        expect(made.answer?.activity, JSON.stringify(made)).toMatchObject({
          organizationId: child.id,
          status: 'ACTIVITY_STATUS_COMPLETED',
        });
        expectVerifiable(made.answer.activity.votes[0], device.origin);
      });

      test('an RSA key', async () => {
        await using device = await openDevice();
        const registration = await device.register({ algorithms: [RS256] });
        const child = await createChild(registration);
        const made = await device.call(
          service.baseUrl,
          'createUserTag',
          submitOf('create_user_tag', child.id, { userTagName: 'by RSA', userIds: [] }),
        );
        expect(made.answer?.activity.status, JSON.stringify(made)).toBe('ACTIVITY_STATUS_COMPLETED');
        expectVerifiable(made.answer.activity.votes[0], device.origin);
      });

      test('an Ed25519 key is refused with the reason', async () => {
        await using device = await openDevice();
        const user = await createUser(root, fresh('user'));
        const refused = await addPasskey(root, user.userId, await device.register({ algorithms: [EDDSA] }));
        expect(refused).toMatchObject({ status: 400, body: { errorCode: 'INVALID_ATTESTATION' } });
        expect(refused.body.message).toContain('EdDSA');
      });

      test('a relying party that is the parent domain of the origin', async () => {
        await using device = await openDevice('platform', nestedOrigin);
        const rpId = 'app.localhost';
        const child = await createChild(await device.register({ rpId }));
        const who = await device.call(service.baseUrl, 'getWhoami', { organizationId: child.id }, [], rpId);
        expect(who.answer, JSON.stringify(who)).toMatchObject({ userId: child.holderId });
      });

      test('a credential id wrapped in CBOR', async () => {
        await using device = await openDevice();
        const registration = await device.register();
        const id = Buffer.from(registration.attestation.credentialId, 'base64url');
        const wrapped = Buffer.concat([Buffer.from([0x58, id.length]), id]).toString('base64url');
        const user = await createUser(root, fresh('user'));
        const { status } = await addPasskey(root, user.userId, {
          ...registration,
          attestation: { ...registration.attestation, credentialId: wrapped },
        });
        expect(status).toBe(200);
        // What comes back is what a browser can use.
        const { authenticators } = (await root.query('get_authenticators', { userId: user.userId })).body;
        const allow = authenticators.map((item: { credentialId: string }) => item.credentialId);
        expect(allow).toEqual([registration.attestation.credentialId]);
        const who = await device.call(service.baseUrl, 'getWhoami', { organizationId: root.organizationId }, allow);
        expect(who.answer, JSON.stringify(who)).toMatchObject({ userId: user.userId });
      });

      test('one credential belongs to one user in the whole tree', async () => {
        await using device = await openDevice();
        const { user, registration } = await createHolder(device);
        const stranger = await createUser(root, fresh('stranger'));
        const conflict = { status: 409, body: { code: 6, errorCode: 'ALREADY_EXISTS' } };
        expect(await addPasskey(root, user.userId, registration)).toMatchObject(conflict);
        expect(await addPasskey(root, stranger.userId, registration)).toMatchObject(conflict);
        const elsewhere = await root.submit('create_sub_organization', {
          subOrganizationName: fresh('child'),
          rootQuorumThreshold: 1,
          rootUsers: [{ userName: 'x', apiKeys: [], authenticators: [paramsOf(registration)], oauthProviders: [] }],
        });
        expect(elsewhere).toMatchObject(conflict);
      });

      test.each(FORMATS)('a changed registration of format %s is refused', async (format) => {
        await using device = await openDevice(KIND_OF[format]);
        const registration = await registerAs(device, format);
        const user = await createUser(root, fresh('user'));
        // Unchanged it is accepted; removed again, nothing but the change can be the reason of a refusal.
        const accepted = await addPasskey(root, user.userId, registration);
        expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
        const { authenticatorIds } = accepted.body.activity.result.createAuthenticatorsResult;
        await root.run('delete_authenticators', { userId: user.userId, authenticatorIds });

        for (const [change, changed] of changesOf(registration, format)) {
          const refused = await addPasskey(root, user.userId, changed);
          expect([change, refused.status, refused.body.errorCode]).toEqual([change, 400, 'INVALID_ATTESTATION']);
        }
        expect((await addPasskey(root, user.userId, registration)).status).toBe(200);
      });
    });

    describe('stamps', () => {
      test('a browser reads refusals as well as answers', async () => {
        await using device = await openDevice();
        const { allow } = await createHolder(device);
        const { organizationId } = root;
        const denied = await device.call(
          service.baseUrl,
          'createUserTag',
          submitOf('create_user_tag', organizationId, { userTagName: fresh('tag'), userIds: [] }),
          allow,
        );
        expect(denied.error).toMatchObject({ name: 'TurnkeyRequestError', code: 7 });
        expect(denied.error?.message).toContain("You don't have sufficient permissions");
        const wrong = await device.call(service.baseUrl, 'getUser', { organizationId, userId: 'me' }, allow);
        expect(wrong.error).toMatchObject({ code: 3 });
        const absent = await device.call(
          service.baseUrl,
          'getSwapStatus',
          { organizationId, swapRequestId: organizationId },
          allow,
        );
        expect(absent.error).toMatchObject({ code: 12 });
      });

      test('a passkey of the parent reads a child', async () => {
        await using device = await openDevice();
        const { allow } = await createHolder(device);
        await using childDevice = await openDevice();
        const child = await createChild(await childDevice.register());
        const read = await device.call(service.baseUrl, 'getUsers', { organizationId: child.id }, allow);
        expect(read.answer?.users, JSON.stringify(read)).toHaveLength(1);
        const other = await childDevice.call(service.baseUrl, 'getUsers', { organizationId: root.organizationId });
        expect(other.error).toMatchObject({ code: 16 });
      });

      test('a device that cannot verify its user may still stamp', async () => {
        await using device = await openDevice('u2f');
        const { user, allow } = await createHolder(device);
        const { organizationId } = root;
        const payload = JSON.stringify({ organizationId });
        const { stampHeaderName, stampHeaderValue } = await device.stamp(payload, allow);
        const { authenticatorData } = JSON.parse(stampHeaderValue);
        expect((Buffer.from(authenticatorData, 'base64url')[32] as number) & 0x04).toBe(0);
        const answer = await send(service.baseUrl, '/public/v1/query/whoami', payload, {
          [stampHeaderName]: stampHeaderValue,
        });
        expect(answer).toMatchObject({ status: 200, body: { userId: user.userId } });
      });

      test('a stamp fits one body, one key and one moment of signing', async () => {
        await using device = await openDevice();
        const { user, allow } = await createHolder(device);
        await using other = await openDevice();
        const { allow: otherAllow } = await createHolder(other);
        const payload = JSON.stringify({ organizationId: root.organizationId });
        const { stampHeaderName, stampHeaderValue } = await device.stamp(payload, allow);
        expect(stampHeaderName).toBe('X-Stamp-Webauthn');
        const ask = (body: string, stamp: string): Promise<Answer> =>
          send(service.baseUrl, '/public/v1/query/whoami', body, { [stampHeaderName]: stamp });
        expect(await ask(payload, stampHeaderValue)).toMatchObject({ status: 200, body: { userId: user.userId } });

        const parts = JSON.parse(stampHeaderValue) as Record<string, string>;
        const clientData = JSON.parse(Buffer.from(parts.clientDataJson as string, 'base64url').toString('utf8'));
        const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const withPart = (part: Record<string, string | undefined>) => JSON.stringify({ ...parts, ...part });
        const foreign = JSON.parse((await other.stamp(payload, otherAllow)).stampHeaderValue) as Record<string, string>;
        const refused: readonly (readonly [string, string, string])[] = [
          ['another body', `${payload} `, stampHeaderValue],
          ['another credential', payload, withPart({ credentialId: otherAllow[0] })],
          ['another signature', payload, withPart({ signature: foreign.signature })],
          ['another origin', payload, withPart({ clientDataJson: encode({ ...clientData, origin: otherOrigin }) })],
          ['a registration', payload, withPart({ clientDataJson: encode({ ...clientData, type: 'webauthn.create' }) })],
          ['absent user', payload, withPart({ authenticatorData: flip(parts.authenticatorData as string, 32, 0x01) })],
          [
            'another relying party',
            payload,
            withPart({ authenticatorData: flip(parts.authenticatorData as string, 0) }),
          ],
          ['another counter', payload, withPart({ authenticatorData: flip(parts.authenticatorData as string, 36) })],
        ];
        for (const [change, body, stamp] of refused) {
          const { status, body: answer } = await ask(body, stamp);
          expect([change, status, answer.errorCode]).toEqual([change, 401, 'SIGNATURE_INVALID']);
        }
      });

      test('a removed passkey is unknown', async () => {
        await using device = await openDevice();
        const { user, allow } = await createHolder(device);
        const { organizationId } = root;
        expect(await device.call(service.baseUrl, 'getWhoami', { organizationId }, allow)).toHaveProperty('answer');
        const { authenticators } = (await root.query('get_authenticators', { userId: user.userId })).body;
        await root.run('delete_authenticators', {
          userId: user.userId,
          authenticatorIds: authenticators.map((item: { authenticatorId: string }) => item.authenticatorId),
        });
        const { error } = await device.call(service.baseUrl, 'getWhoami', { organizationId }, allow);
        expect(error).toMatchObject({ code: 16 });
        expect(error?.message).toContain('could not find webauthn credential');
      });
    });

    describe('quorum', () => {
      test('a passkey approves what an API key proposed', async () => {
        await using device = await openDevice();
        const child = await createChild(await device.register(), 2, 1);
        const [member] = child.members as [TestClient];
        const proposed = await member.submit('create_user_tag', { userTagName: 'both', userIds: [] });
        expect(proposed.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
        const { id, fingerprint } = proposed.body.activity;
        const seen = await device.call(service.baseUrl, 'getActivity', { organizationId: child.id, activityId: id });
        expect(seen.answer?.activity, JSON.stringify(seen)).toMatchObject({ canApprove: true, canReject: true });
        const approval = submitOf('approve_activity', child.id, { fingerprint });
        const done = await device.call(service.baseUrl, 'approveActivity', approval);
        expect(done.answer?.activity, JSON.stringify(done)).toMatchObject({ id, status: 'ACTIVITY_STATUS_COMPLETED' });

        // Read by the other member, the vote proves itself.
        const { activity } = (await member.query('get_activity', { activityId: id })).body;
        expect(activity.votes).toHaveLength(2);
        expect(activity.votes[0]).toMatchObject({ scheme: 'SIGNATURE_SCHEME_TK_API_P256', userId: member.userId });
        expect(activity.votes[0]).not.toHaveProperty('webauthn');
        expect(activity.votes[1]).toMatchObject({ userId: child.holderId, message: JSON.stringify(approval) });
        expectVerifiable(activity.votes[1], device.origin);
      });

      test('an API key approves, and a passkey rejects', async () => {
        await using device = await openDevice();
        const child = await createChild(await device.register(), 2, 2);
        const [first, second] = child.members as [TestClient, TestClient];
        const proposed = await device.call(
          service.baseUrl,
          'updateRootQuorum',
          submitOf('update_root_quorum', child.id, { threshold: 1, userIds: [child.holderId] }),
        );
        expect(proposed.answer?.activity.status, JSON.stringify(proposed)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
        expectVerifiable(proposed.answer.activity.votes[0], device.origin);
        const { fingerprint } = proposed.answer.activity;
        const rejected = await first.submit('reject_activity', { fingerprint });
        expect(rejected.body.activity.status).toBe('ACTIVITY_STATUS_REJECTED');

        const next = await second.submit('create_user_tag', { userTagName: 'unwanted', userIds: [] });
        const refused = await device.call(
          service.baseUrl,
          'rejectActivity',
          submitOf('reject_activity', child.id, { fingerprint: next.body.activity.fingerprint }),
        );
        expect(refused.answer?.activity, JSON.stringify(refused)).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED' });
        expectVerifiable(refused.answer.activity.votes.at(-1), device.origin);
      });
    });

    describe('allowed origins', () => {
      // The feature concerns the whole tree, so these run on a service of their own.
      test('only listed origins register and stamp, in the parent and in its children', async () => {
        await using own = await TestServer.start({ database });
        const owner = TestClient.root(own.credentials, own.baseUrl);
        await using device = await openDevice();
        const registration = await device.register();
        const { subOrganizationId, rootUserIds } = await owner.run('create_sub_organization', {
          subOrganizationName: 'child',
          rootQuorumThreshold: 1,
          rootUsers: [
            { userName: 'holder', apiKeys: [], authenticators: [paramsOf(registration)], oauthProviders: [] },
          ],
        });
        await using ownDevice = await openDevice();
        const ownRegistration = await ownDevice.register();
        expect((await addPasskey(owner, owner.userId, ownRegistration)).status).toBe(200);
        const asks: readonly (readonly [PasskeyDevice, string])[] = [
          [device, subOrganizationId],
          [device, owner.organizationId],
          [ownDevice, owner.organizationId],
          [ownDevice, subOrganizationId],
        ];
        const ask = (asked: PasskeyDevice, organizationId: string) =>
          asked.call(own.baseUrl, 'getWhoami', { organizationId });

        // Without the feature every origin of the relying party may.
        for (const at of [origin, otherOrigin]) {
          await device.visit(at);
          await ownDevice.visit(at);
          for (const [asked, organizationId] of asks) {
            expect(await ask(asked, organizationId)).toHaveProperty('answer.organizationId');
          }
        }
        await using free = await openDevice('platform', otherOrigin);
        expect((await addPasskey(owner, owner.userId, await free.register())).status).toBe(200);

        await owner.run('set_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: origin });

        for (const [asked, organizationId] of asks) {
          const { error } = await ask(asked, organizationId);
          expect(error).toMatchObject({ code: 16 });
          expect(error?.message).toContain('origin is not allowed');
        }
        const submitted = await device.call(
          own.baseUrl,
          'updateUserName',
          submitOf('update_user_name', subOrganizationId, { userId: rootUserIds[0], userName: 'phished' }),
        );
        expect(submitted.error).toMatchObject({ code: 16 });
        await using late = await openDevice('platform', otherOrigin);
        const refused = await addPasskey(owner, owner.userId, await late.register());
        expect(refused).toMatchObject({ status: 400, body: { errorCode: 'INVALID_ATTESTATION' } });
        expect(refused.body.message).toContain('origin is not allowed');

        await device.visit(origin);
        await ownDevice.visit(origin);
        for (const [asked, organizationId] of asks) {
          expect(await ask(asked, organizationId)).toHaveProperty('answer.organizationId');
        }
        await using allowed = await openDevice();
        expect((await addPasskey(owner, owner.userId, await allowed.register())).status).toBe(200);

        // Several origins, and none of them once the feature is gone.
        await owner.run('set_organization_feature', {
          name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
          value: `${origin}, ${otherOrigin}`,
        });
        await device.visit(otherOrigin);
        expect(await ask(device, subOrganizationId)).toHaveProperty('answer.organizationId');
        await owner.run('set_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: origin });
        expect(await ask(device, subOrganizationId)).toHaveProperty('error');
        await owner.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
        expect(await ask(device, subOrganizationId)).toHaveProperty('answer.organizationId');
      });
    });
  });
});

/** The same bytes with some bits of one of them turned over. */
function flip(text: string, index: number, mask = 0x01): string {
  const bytes = Buffer.from(text, 'base64url');
  const at = index < 0 ? bytes.length + index : index;
  bytes[at] = (bytes[at] as number) ^ mask;
  return bytes.toString('base64url');
}

/** Registrations that differ from a good one in a single way; each must be refused. */
function changesOf(registration: Registration, format: Format): (readonly [string, Registration])[] {
  const { challenge, attestation } = registration;
  const clientData = JSON.parse(Buffer.from(attestation.clientDataJson, 'base64url').toString('utf8'));
  const withClientData = (change: Record<string, unknown>): Registration => ({
    challenge,
    attestation: {
      ...attestation,
      clientDataJson: Buffer.from(JSON.stringify({ ...clientData, ...change })).toString('base64url'),
    },
  });
  const object = Buffer.from(attestation.attestationObject, 'base64url');
  const withFlip = (index: number, mask = 0x01): Registration => ({
    challenge,
    attestation: { ...attestation, attestationObject: flip(attestation.attestationObject, index, mask) },
  });
  const after = (text: string): number => {
    const at = object.indexOf(text);
    if (at < 0) throw new Error(`no ${text} in the attestation object`);
    return at + text.length;
  };
  // A byte string of two length bytes or one follows the name; the hash of the relying party is what it starts with.
  const authData = after('authData') + (object[after('authData')] === 0x59 ? 3 : 2);
  const changes: (readonly [string, Registration])[] = [
    ['another challenge', { challenge: flip(challenge, 0), attestation }],
    ['an assertion', withClientData({ type: 'webauthn.get' })],
    ['a challenge of its own', withClientData({ challenge: flip(clientData.challenge, 0) })],
    ['another host', withClientData({ origin: 'http://elsewhere.example' })],
    [
      'another credential id',
      { challenge, attestation: { ...attestation, credentialId: flip(attestation.credentialId, 0) } },
    ],
    ['another relying party', withFlip(authData)],
    ['absent user', withFlip(authData + 32)],
    ['no credential', withFlip(authData + 32, 0x40)],
    ['a point off the curve', withFlip(object.length - 1)],
    [
      'a cut object',
      { challenge, attestation: { ...attestation, attestationObject: object.subarray(0, -1).toString('base64url') } },
    ],
    [
      'bytes after the object',
      {
        challenge,
        attestation: {
          ...attestation,
          attestationObject: Buffer.concat([object, Buffer.alloc(1)]).toString('base64url'),
        },
      },
    ],
  ];
  if (format === 'none') return changes;
  // These are covered by the signature of the statement alone.
  return [
    ...changes,
    ['another port', withClientData({ origin: 'http://localhost:1' })],
    ['another client data', withClientData({ crossOrigin: true })],
    ['another signature', withFlip(after('sig') + 12)],
    ...(format === 'packed' ? [['another counter', withFlip(authData + 36)] as const] : []),
  ];
}
