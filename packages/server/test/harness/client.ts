import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { RootCredentials } from '../../src/credentials-file.ts';
import { operations } from '../../src/registry.ts';

export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** A P-256 key pair in the hex form of the API. */
export function newKeyPair(): KeyPair {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('hex', 'compressed');
  return { publicKey, privateKey: ecdh.getPrivateKey('hex').padStart(64, '0') };
}

/** Making one takes longer than signing with it, and a test signs often with the same few. */
const signingKeys = new WeakMap<KeyPair, KeyObject>();

function signingKeyOf(pair: KeyPair): KeyObject {
  const known = signingKeys.get(pair);
  if (known !== undefined) return known;
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(pair.privateKey, 'hex');
  const point = ecdh.getPublicKey();
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: Buffer.from(pair.privateKey, 'hex').toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  signingKeys.set(pair, key);
  return key;
}

/** The X-Stamp value of a body. */
export function stampFor(body: Uint8Array, pair: KeyPair): string {
  const { publicKey } = pair;
  const signature = sign('sha256', body, signingKeyOf(pair)).toString('hex');
  return Buffer.from(JSON.stringify({ publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature })).toString(
    'base64url',
  );
}

export interface Answer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  // Test code reads whatever a test expects; the type would only get in the way of asserting on wrong answers.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly body: any;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends exact bytes. A TypeError says that no whole answer came, as it does for `fetch`, which takes four times as
 * long.
 */
export async function send(
  baseUrl: string,
  path: string,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const bytes = Buffer.from(body);
  const response = await new Promise<IncomingMessage & { text: string }>((resolve, reject) => {
    const fail = (cause: Error) => reject(new TypeError(`no answer from ${path}`, { cause }));
    const outgoing = request(`${baseUrl}${path}`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...headers },
    });
    outgoing.on('error', fail);
    outgoing.once('response', (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('error', fail);
      incoming.once('end', () => resolve(Object.assign(incoming, { text: Buffer.concat(parts).toString() })));
    });
    outgoing.end(bytes);
  });
  return {
    status: response.statusCode ?? 0,
    headers: { get: (name) => response.headers[name.toLowerCase()]?.toString() ?? null },
    body: response.text === '' ? undefined : JSON.parse(response.text),
  };
}

const MOVED_MS = 60_000;
let lastTimestamp = 0;

/** Milliseconds that never repeat in this process, so that equal requests become different activities. */
function nextTimestamp(aheadMs: number): string {
  const nowMs = Date.now();
  // A test that had moved the clock has ended.
  if (lastTimestamp > nowMs + MOVED_MS) lastTimestamp = nowMs;
  lastTimestamp = Math.max(nowMs, lastTimestamp + 1);
  return String(lastTimestamp + aheadMs);
}

/** A raw client: what is sent is what a test says, stamped by one key. */
export class TestClient {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly key: KeyPair;
  /** The user of the key, where the test knows it. */
  readonly userId: string;
  /** How far its clock is ahead. */
  readonly aheadMs: number;

  constructor(baseUrl: string, organizationId: string, key: KeyPair, userId = '', aheadMs = 0) {
    this.baseUrl = baseUrl;
    this.organizationId = organizationId;
    this.key = key;
    this.userId = userId;
    this.aheadMs = aheadMs;
  }

  static root({ organizationId, apiPublicKey, apiPrivateKey, userId }: RootCredentials, baseUrl: string): TestClient {
    return new TestClient(baseUrl, organizationId, { publicKey: apiPublicKey, privateKey: apiPrivateKey }, userId);
  }

  /** The same server and organization, another key. */
  as(key: KeyPair, userId = ''): TestClient {
    return new TestClient(this.baseUrl, this.organizationId, key, userId, this.aheadMs);
  }

  /** The body of a submit, as text; the type defaults to the operation's current one. */
  submitBody(operation: string, parameters: unknown, overrides: Record<string, unknown> = {}): string {
    return JSON.stringify({
      type: currentType(operation),
      timestampMs: nextTimestamp(this.aheadMs),
      organizationId: this.organizationId,
      parameters,
      ...overrides,
    });
  }

  async sendStamped(path: string, body: string | Uint8Array): Promise<Answer> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return await send(this.baseUrl, path, bytes, { 'x-stamp': stampFor(bytes, this.key) });
  }

  async submit(operation: string, parameters: unknown, overrides: Record<string, unknown> = {}): Promise<Answer> {
    return await this.sendStamped(`/public/v1/submit/${operation}`, this.submitBody(operation, parameters, overrides));
  }

  async query(operation: string, parameters: Record<string, unknown> = {}): Promise<Answer> {
    const body = JSON.stringify({ organizationId: this.organizationId, ...parameters });
    return await this.sendStamped(`/public/v1/query/${operation}`, body);
  }

  /** Submits and returns the one result; throws unless the activity completed. */
  // biome-ignore lint/suspicious/noExplicitAny: results are asserted on by the tests.
  async run(operation: string, parameters: unknown): Promise<any> {
    const answer = await this.submit(operation, parameters);
    if (answer.status !== 200 || answer.body.activity.status !== 'ACTIVITY_STATUS_COMPLETED') {
      throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return Object.values(answer.body.activity.result)[0];
  }
}

export function currentType(operation: string): string {
  const found = operations.find((candidate) => candidate.name === operation && candidate.kind !== 'query');
  if (found === undefined || found.kind === 'query') throw new Error(`no such submit operation: ${operation}`);
  return found.kind === 'vote' ? found.type : (found.versions[0]?.type as string);
}

/** create_users with one P-256 key; returns a client for the new user. */
export async function createUser(
  root: TestClient,
  userName: string,
  extra: Record<string, unknown> = {},
): Promise<TestClient> {
  const key = newKeyPair();
  const { userIds } = await root.run('create_users', {
    users: [
      {
        userName,
        apiKeys: [{ apiKeyName: `${userName} key`, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
        ...extra,
      },
    ],
  });
  return root.as(key, userIds[0]);
}

/** create_sub_organization with one root user and key; returns that user's client. */
export async function createSubOrganization(root: TestClient, subOrganizationName: string): Promise<TestClient> {
  const key = newKeyPair();
  const { subOrganizationId, rootUserIds } = await root.run('create_sub_organization', {
    subOrganizationName,
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: `${subOrganizationName} root`,
        apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
      },
    ],
  });
  return new TestClient(root.baseUrl, subOrganizationId, key, rootUserIds[0]);
}
