import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import {
  type Deployment,
  deploy,
  EMPTY_KIT,
  encryptTo,
  flipped,
  ORGANIZATION,
  RECIPIENT,
  webhookKeyOf,
} from '../../test/fixtures/client.ts';
import { fromHex, fromText, labelled, toHex } from '../../test/fixtures/labels.ts';
import { sealText } from '../bundle/credential-bundle.ts';
import { sealBox } from '../bundle/sealed-box.ts';
import type { Method } from '../calls/call.ts';
import { METHODS } from '../calls/table.ts';
import { type CreatedIntegrityKey, createKeyring, KeyringError } from '../index.ts';
import { CALLER_KINDS, KIND } from '../kinds.ts';
import { ed25519PublicKey } from '../sign/ed25519.ts';
import type { Refusal } from './channel.ts';
import { FrameReader } from './frame.ts';
import type { Pipe } from './line.ts';
import { ANSWER, numberOf } from './protocol.ts';
import { pipesOf, startKeyringProcess } from './start.ts';

// A caller that took over the service speaks to the keyring process without the client. It gets what the interface
// gives and nothing else, and the process goes on.

const SECRET = Uint8Array.from({ length: 32 }, (_, index) => 0xa0 ^ (7 * index));
const OWNER = 'key-1';
/** The generator of P-256. */
const POINT = '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';
const OTP_CODE = 'ZQ7XW3KPN';
const SESSION = { expiresAtSeconds: 1, publicKey: fromHex(POINT), userId: 'u', organizationId: 'o' };
const TOKEN = {
  id: 'i',
  verificationType: 't',
  contact: 'c',
  organizationId: 'o',
  expiresAtMs: 1,
  publicKey: fromHex(POINT),
};
const WEBHOOK = { timestampMs: 1, eventId: '00000000-0000-4000-8000-000000000005', body: '{}' };
const CLIENT_SECRET = 'a client secret of a provider';
const ON_RAMP_SECRET = 'sk_test_of_an_on_ramp_provider';
const ON_RAMP_KEY = labelled('an on-ramp key of a provider');
const COINBASE_CALL = { keyId: 'k', method: 'POST', host: 'a.test', path: '/onramp/v1/token', nowMs: 1 };

const unpack = (body: Uint8Array): unknown => deserialize(body);

interface Answer {
  readonly id: number;
  readonly body?: Uint8Array;
  readonly refusal?: Refusal;
}

let folder: string;
let child: ChildProcess;
let deployment: Deployment;
let sealedKey: Uint8Array;
let sealedSeed: Uint8Array;
let sealedOtp: Uint8Array;
let otpAttempt: string;
let clientSecretBox: string;
let sealedClientSecret: Uint8Array;
let onRampBundle: string;
let sealedOnRampSecret: Uint8Array;
let sealedOnRampKey: Uint8Array;
let integrity: CreatedIntegrityKey;
let integrityKey: Uint8Array;
let lastId = 1_000_000;
const answers: Answer[] = [];
const news = new EventEmitter();

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-hostile-'));
  const rootKey = `file:${join(folder, 'root.key')}`;
  await using keyring = await createKeyring({ rootKey, create: true });
  deployment = await deploy(keyring);
  const target = await keyring.createImportTarget(deployment.holder('t'), 'u');
  const targets = [{ id: 't', sealed: target.sealedTarget }];
  const bundle = encryptTo(target.targetPublicKey, SECRET);
  ({ sealedKey } = await keyring.importPrivateKey(deployment.holder(OWNER), targets, bundle, 'CURVE_ED25519', []));
  ({ sealedSeed } = await keyring.createWallet(deployment.holder('wallet-1'), 12, []));
  const otp = await keyring.createOtp(deployment.holder('otp-1'), OTP_CODE);
  ({ sealedOtp } = otp);
  const { targetPublic } = JSON.parse(Buffer.from(JSON.parse(otp.targetBundle).data, 'hex').toString('utf8'));
  otpAttempt = encryptTo(targetPublic, fromText(JSON.stringify({ otp_code: OTP_CODE, public_key: POINT })));
  clientSecretBox = sealBox(fromHex(deployment.publicKeys['oauth-secret']), fromText(CLIENT_SECRET));
  sealedClientSecret = await keyring.importOauthSecret(deployment.holder('credential-1'), clientSecretBox);
  const onRamp = (secret: string) => sealText(fromHex(deployment.publicKeys['on-ramp-secret']), fromText(secret));
  onRampBundle = onRamp(ON_RAMP_SECRET);
  sealedOnRampSecret = await keyring.importOnRampSecret(deployment.holder('on-ramp-1'), onRampBundle);
  const pair = Buffer.concat([ON_RAMP_KEY, ed25519PublicKey(ON_RAMP_KEY)]).toString('base64');
  sealedOnRampKey = await keyring.importOnRampSecret(deployment.holder('on-ramp-2'), onRamp(pair));
  integrity = await keyring.createIntegrityKey(deployment.installationKey, 1);
  integrityKey = await keyring.lendIntegrityKey(deployment.installationKey, integrity.keyId, 1, integrity.sealed);
  child = startKeyringProcess({ rootKey, threads: 2 });
  child.send({ create: false, methods: METHODS });
  for (const pipe of pipesOf(child)) {
    const reader = new FrameReader(
      () => Number.POSITIVE_INFINITY,
      ({ id, tag, body = new Uint8Array() }) => {
        if (tag === ANSWER.ring) return;
        answers.push(tag === ANSWER.value ? { id, body } : { id, refusal: deserialize(body) });
        news.emit('answer');
      },
    );
    pipe.on('data', (chunk) => reader.push(chunk));
  }
  await once(child, 'message');
  child.send({ type: 'wake' });
  expect((await once(child, 'message'))[0]).toEqual({ type: 'woken', thread: 1 });
});

afterAll(async () => {
  const ended = once(child, 'exit');
  child.disconnect();
  expect((await ended)[0]).toBe(0);
  await rm(folder, { recursive: true });
});

/** On the channel; what cannot be cloned nobody can send. */
function tell(message: unknown): void {
  try {
    child.send(message as object, () => {});
  } catch (error) {
    if (error instanceof KeyringError) throw error;
  }
}

/** A frame with any body, which says of itself what it likes. */
function frame(id: number, tag: number, body: Uint8Array, length = body.length): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32LE(length, 0);
  head.writeDoubleLE(id, 4);
  head.writeUInt8(tag, 12);
  return Buffer.concat([head, body]);
}

/** To each of the threads in turn. */
function send(bytes: Uint8Array): void {
  const pipes = pipesOf(child);
  pipes[lastId % pipes.length]?.write(bytes);
}

/** A right call, answered rightly: everything that was sent before has been dealt with, and the process is the same. */
async function call(method: string, args: unknown): Promise<Answer> {
  lastId += 1;
  send(frame(lastId, numberOf(method as Method), serialize(args)));
  return answerTo(lastId);
}

async function answerTo(id: number): Promise<Answer> {
  for (;;) {
    const known = answers.find((answer) => answer.id === id);
    if (known !== undefined) return known;
    await once(news, 'answer');
  }
}

async function checkAlive(): Promise<void> {
  for (const _ of pipesOf(child)) {
    const answer = await call('createOrganizationKey', ['o']);
    expect((unpack(answer.body as Uint8Array) as Uint8Array).length).toBe(94);
  }
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
}

async function loadServiceKeys(): Promise<void> {
  for (const _ of pipesOf(child)) {
    const { refusal } = await call('loadServiceKeys', [deployment.installationKey, deployment.keys]);
    expect(refusal).toBeUndefined();
  }
}

/** Neither a secret itself nor its text in an answer. */
function checkNoSecret(): void {
  const provider = [fromText(CLIENT_SECRET), fromText(ON_RAMP_SECRET), ON_RAMP_KEY];
  const secrets = [SECRET, fromText(OTP_CODE), ...provider, integrityKey];
  const texts = secrets.flatMap((secret) =>
    ['latin1', 'hex', 'base64', 'base64url'].map((encoding) =>
      Buffer.from(secret).toString(encoding as BufferEncoding),
    ),
  );
  for (const { body, refusal } of answers) {
    const text = Buffer.from(body ?? []).toString('latin1') + JSON.stringify(refusal ?? '');
    for (const secret of texts) expect(text.includes(secret.replaceAll('=', ''))).toBe(false);
  }
  answers.length = 0;
}

test('messages of any shape', { timeout: 120_000 }, async () => {
  const value = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withObjectString: true,
  });
  const packed = (args: unknown): Uint8Array => {
    try {
      return serialize(args);
    } catch {
      return Uint8Array.of(0);
    }
  };
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    value.map(packed),
    fc.array(value, { maxLength: 8 }).map(packed),
  );
  const id = fc.oneof(fc.integer(), fc.double());
  const call = fc.tuple(id, fc.nat({ max: 255 }), body).map((parts) => frame(...parts));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(value, call), { minLength: 20, maxLength: 60 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 100 })),
      async (messages, lengths) => {
        for (const each of messages) {
          if (!Buffer.isBuffer(each)) tell(each);
          else
            for (let at = 0, end = 0; at < each.length; at = end) {
              // In pieces, as they may arrive.
              end = at + (lengths.next().value ?? 1);
              pipesOf(child)[0]?.write(each.subarray(at, end));
            }
        }
        await checkAlive();
      },
    ),
    { numRuns: 60 },
  );
  checkNoSecret();
});

test("Node's own messages, which carry handles", async () => {
  for (const cmd of ['NODE_HANDLE', 'NODE_HANDLE_ACK', 'NODE_HANDLE_NACK', 'NODE_SOCKET_NOTIFY_CLOSE', 'NODE_X']) {
    for (const type of ['net.Server', 'net.Socket', 'dgram.Native', 'x', '__proto__', undefined]) {
      tell({ cmd, type, key: 'x', msg: {} });
    }
  }
  await checkAlive();
});

test('methods that do not exist', async () => {
  const count = METHODS.length;
  for (let tag = count; tag <= 255; tag += 1) {
    lastId += 1;
    send(frame(lastId, tag, serialize([])));
  }
  await checkAlive();
  const refused = answers.filter(({ refusal }) => refusal?.message === 'the keyring process has no such method');
  expect(refused).toHaveLength(256 - count);
});

test('frames that are longer than allowed are refused and skipped', async () => {
  const tooLong = Buffer.alloc(8 * 1024 * 1024 + 1, 7);
  const tag = numberOf('seal');
  lastId += 1;
  const id = lastId;
  // What is inside of it is no call, whatever it looks like.
  frame(666, numberOf('createOrganizationKey'), serialize(['o'])).copy(tooLong);
  send(frame(id, tag, tooLong));
  expect((await answerTo(id)).refusal).toMatchObject({ code: 'INVALID_INPUT' });
  await checkAlive();
  expect(answers.some((answer) => answer.id === 666)).toBe(false);
});

test('arguments with prototypes, getters and names that are not theirs', async () => {
  const polluted = JSON.parse('{"__proto__":{"organizationId":"o","kind":"vote-message","polluted":true}}');
  const args: unknown[] = [
    [polluted, polluted, polluted],
    [{ ...deployment.holder('x'), __proto__: null }, sealedSeed, [{ curve: '__proto__', path: 'm/0' }]],
    [
      deployment.holder('x'),
      { kind: '__proto__', sealed: sealedKey, curve: 'constructor' },
      'toString',
      [new Uint8Array(32)],
    ],
    { length: 3, 0: deployment.holder(OWNER) },
    new Map([[0, deployment.holder(OWNER)]]),
    'text',
    null,
    Array.from({ length: 9 }, () => 1),
  ];
  for (const method of METHODS) {
    // These look at no arguments.
    if (['addRootKey', 'refreshRing', 'ping', 'integrityRequired'].includes(method)) continue;
    for (const list of args) expect((await call(method, list)).refusal?.code).toMatch(/^[A-Z_]+$/);
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  await checkAlive();
});

test('huge lists, huge bytes and deep nesting', { timeout: 120_000 }, async () => {
  const holder = deployment.holder(OWNER);
  const key = { kind: 'private-key', sealed: sealedKey, curve: 'CURVE_ED25519' };
  const KIT = { ...EMPTY_KIT, privateKeys: [{ privateKeyId: OWNER, name: '', sealedKey, addresses: [] }] };
  let nested: unknown[] = [];
  for (let level = 0; level < 2000; level += 1) nested = [nested];
  const calls: [string, unknown][] = [
    ['sign', [holder, key, 'eddsa', Array.from({ length: 200_000 }, () => 1)]],
    ['sign', [holder, key, 'eddsa', new Array(4_000_000_000)]],
    ['sign', [holder, key, 'eddsa', [new Uint8Array(5 * 1024 * 1024)]]],
    ['deriveAccounts', [holder, sealedSeed, new Array(1_000_000)]],
    ['createSecretTargets', [holder, 1e9]],
    ['createWallet', [nested, nested, nested]],
    [
      'seal',
      [
        holder.organizationKey,
        { organizationId: ORGANIZATION, ownerId: 'x'.repeat(1e6), kind: 'vote-message' },
        SECRET,
      ],
    ],
    ['signAppProof', ['x'.repeat(4e6)]],
    ['importWallet', [holder, [], 'x'.repeat(4e6), []]],
    ['createOtp', [holder, 'X'.repeat(4e6)]],
    ['checkOtp', [holder, new Uint8Array(5 * 1024 * 1024), { code: 'x' }]],
    ['signSession', [{ ...SESSION, userId: 'x'.repeat(4e6) }]],
    ['signSession', [{ ...SESSION, profile: { id: 'p', name: 'n', scope: 'x'.repeat(4e6) } }]],
    ['signVerificationToken', [{ ...TOKEN, contact: 'x'.repeat(4e6) }]],
    ['signIdToken', [{ sub: 'x'.repeat(4e6) }]],
    ['signIdToken', [Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`c${index}`, 1]))]],
    ['signIdToken', [{ sub: new Array(4_000_000_000) }]],
    ['signIdToken', [nested]],
    ['signIdToken', [{ sub: nested }]],
    ['signWebhooks', [webhookKeyOf(deployment), [{ ...WEBHOOK, body: 'x'.repeat(17 * 1024 * 1024) }]]],
    ['signWebhooks', [webhookKeyOf(deployment), [{ ...WEBHOOK, body: '€'.repeat(17 * 1024 * 1024) }]]],
    ['signWebhooks', [webhookKeyOf(deployment), [{ ...WEBHOOK, eventId: 'a'.repeat(4e6) }]]],
    ['signWebhooks', [webhookKeyOf(deployment), Array.from({ length: 200_000 }, () => 1)]],
    ['signWebhooks', [webhookKeyOf(deployment), new Array(4_000_000_000)]],
    ['signWebhooks', ['x'.repeat(4e6), [WEBHOOK]]],
    ['signWebhooks', [webhookKeyOf(deployment), nested]],
    ['signWebhooks', [webhookKeyOf(deployment), [{ ...WEBHOOK, body: nested }]]],
    ['importOauthSecret', [holder, 'ab'.repeat(2e6)]],
    ['lendOauthSecret', [holder, new Uint8Array(5 * 1024 * 1024)]],
    ['importOnRampSecret', [holder, '1'.repeat(4e6)]],
    ['signMoonpayQuery', [holder, new Uint8Array(5 * 1024 * 1024), '?a=b']],
    ['signMoonpayQuery', [deployment.holder('on-ramp-1'), sealedOnRampSecret, `?${'a'.repeat(4e6)}`]],
    [
      'signCoinbaseToken',
      [deployment.holder('on-ramp-2'), sealedOnRampKey, { ...COINBASE_CALL, path: '/a'.repeat(2e6) }],
    ],
    ['signCoinbaseToken', [deployment.holder('on-ramp-2'), sealedOnRampKey, nested]],
    ['createIntegrityKey', [new Uint8Array(7 * 1024 * 1024), 1]],
    ['lendIntegrityKey', [deployment.installationKey, integrity.keyId, 1, new Uint8Array(5 * 1024 * 1024)]],
    ['lendIntegrityKey', [deployment.installationKey, 'a'.repeat(4e6), 1, integrity.sealed]],
    ['requireIntegrity', ['a'.repeat(4e6)]],
    ['requireIntegrity', [nested]],
    ['exportRecoveryKit', [holder.organizationKey, ORGANIZATION, EMPTY_KIT, new Array(4_000_000_000)]],
    ['exportRecoveryKit', [holder.organizationKey, ORGANIZATION, { ...EMPTY_KIT, wallets: nested }, [RECIPIENT]]],
    [
      'exportRecoveryKit',
      [
        holder.organizationKey,
        ORGANIZATION,
        { ...KIT, wallets: Array.from({ length: 200_000 }, () => 1) },
        [RECIPIENT],
      ],
    ],
    [
      'exportRecoveryKit',
      [holder.organizationKey, ORGANIZATION, { ...KIT, organizationName: 'x'.repeat(4e6) }, [RECIPIENT]],
    ],
    ['exportRecoveryKit', [holder.organizationKey, ORGANIZATION, KIT, ['x'.repeat(4e6)]]],
    ['exportRecoveryKit', [holder.organizationKey, ORGANIZATION, KIT, nested]],
    ['seal', [new Uint8Array(9 * 1024 * 1024)]],
  ];
  await loadServiceKeys();
  for (const [method, args] of calls) expect((await call(method, args)).refusal?.code).toMatch(/^[A-Z_]+$/);
  // In the right form too: only the first thread counts exports.
  const kit = await call('exportRecoveryKit', [holder.organizationKey, ORGANIZATION, KIT, [RECIPIENT]]);
  expect(kit.refusal?.code).toBe('NOT_ALLOWED');
  // An attempt may be any text: what is no code is a wrong one.
  for (const attempt of [{ code: 'x'.repeat(4e6) }, { encryptedBundle: 'x'.repeat(4e6) }]) {
    const { body } = await call('checkOtp', [deployment.holder('otp-1'), sealedOtp, attempt]);
    expect(unpack(body as Uint8Array)).toEqual({ matches: false });
  }
  await checkAlive();
  checkNoSecret();
});

test('no kind of key material is opened, by whatever name and with the right key and owner', async () => {
  const { organizationKey } = deployment.holder(OWNER);
  const kinds = Object.values(KIND);
  const blobs: [string, string, Uint8Array, Uint8Array][] = [
    [ORGANIZATION, OWNER, organizationKey, sealedKey],
    [ORGANIZATION, 'wallet-1', organizationKey, sealedSeed],
    [ORGANIZATION, 'otp-1', organizationKey, sealedOtp],
    [ORGANIZATION, 'credential-1', organizationKey, sealedClientSecret],
    [ORGANIZATION, 'on-ramp-1', organizationKey, sealedOnRampSecret],
    ['deployment', deployment.keys[0]!.keyId, deployment.installationKey, deployment.keys[0]!.sealed],
    ['deployment', integrity.keyId, deployment.installationKey, integrity.sealed],
  ];
  for (const [organizationId, ownerId, key, blob] of blobs) {
    for (const kind of [...kinds, ...CALLER_KINDS, ['private-key'], null]) {
      const { body, refusal } = await call('open', [key, { organizationId, ownerId, kind }, blob]);
      expect(body).toBeUndefined();
      expect(refusal?.code).toMatch(/^(INVALID_INPUT|NOT_OPENED)$/);
    }
    for (const kind of kinds) {
      const forged = await call('seal', [key, { organizationId, ownerId, kind }, SECRET]);
      expect(forged.refusal?.code).toBe('INVALID_INPUT');
    }
  }
  // The same key does sign for its holder.
  const signing = { kind: 'private-key', sealed: sealedKey, curve: 'CURVE_ED25519' };
  expect((await call('sign', [deployment.holder(OWNER), signing, 'eddsa', [SECRET]])).body).toBeDefined();
  checkNoSecret();
});

test('webhooks, with each argument, each of its members and each of its bytes replaced by something else', async () => {
  await loadServiceKeys();
  const sign = async (keyId: unknown, webhooks: unknown): Promise<Answer> => call('signWebhooks', [keyId, webhooks]);
  const right = await sign(webhookKeyOf(deployment), [WEBHOOK]);
  const [signature] = unpack(right.body as Uint8Array) as string[];
  expect(signature).toMatch(/^[0-9a-f]{128}$/);
  const junk: unknown[] = [undefined, null, -1, 1.5, Number.NaN, true, 7n, {}, new Map(), new Date(0), /x/, '\ud800'];
  const others: unknown[] = ['__proto__', '\ud800.1', [], [[]], new Uint8Array(3), { toString: 'x' }, [WEBHOOK, 1]];
  for (const value of [...junk, ...others]) {
    const codes = [await sign(value, [WEBHOOK]), await sign(webhookKeyOf(deployment), value)].map(
      ({ refusal }) => refusal?.code,
    );
    expect([String(codes[0]), codes[1]]).toEqual([
      expect.stringMatching(/^(INVALID_INPUT|UNAVAILABLE)$/),
      'INVALID_INPUT',
    ]);
  }
  for (const value of junk) {
    for (const name of Object.keys(WEBHOOK)) {
      const { refusal } = await sign(webhookKeyOf(deployment), [{ ...WEBHOOK, [name]: value }]);
      expect([name, value, refusal?.code]).toEqual([name, value, 'INVALID_INPUT']);
    }
  }
  for (const args of [
    [],
    [webhookKeyOf(deployment)],
    [webhookKeyOf(deployment), [{}]],
    [{ keyId: webhookKeyOf(deployment) }, [WEBHOOK]],
  ]) {
    expect((await call('signWebhooks', args)).refusal?.code).toBe('INVALID_INPUT');
  }
  // The packed arguments with each of their bits flipped: a refusal, or the signature of what they then are.
  const body = serialize([webhookKeyOf(deployment), [WEBHOOK]]);
  const codes: (string | undefined)[] = [];
  for (let bit = 0; bit < body.length * 8; bit += 1) {
    lastId += 1;
    send(frame(lastId, numberOf('signWebhooks'), flipped(body, bit)));
    const answer = await answerTo(lastId);
    codes.push(answer.refusal?.code);
    if (answer.body !== undefined) expect(unpack(answer.body)).toEqual([expect.stringMatching(/^[0-9a-f]{128}$/)]);
  }
  expect(new Set(codes)).toEqual(new Set([undefined, 'INVALID_INPUT', 'UNAVAILABLE']));
  await checkAlive();
  checkNoSecret();
});

/** The calls of logins, of on-ramps and of integrity keys, each with arguments that it takes. */
const loginCalls = (): Readonly<Record<string, readonly unknown[]>> => ({
  createOtp: [deployment.holder('otp-1'), OTP_CODE],
  checkOtp: [deployment.holder('otp-1'), sealedOtp, { encryptedBundle: otpAttempt }],
  createCredential: [fromHex(POINT)],
  signSession: [SESSION],
  signVerificationToken: [TOKEN],
  signIdToken: [{ sub: 'x', aud: ['a'], iat: 1 }],
  importOauthSecret: [deployment.holder('credential-1'), clientSecretBox],
  lendOauthSecret: [deployment.holder('credential-1'), sealedClientSecret],
  importOnRampSecret: [deployment.holder('on-ramp-1'), onRampBundle],
  signMoonpayQuery: [deployment.holder('on-ramp-1'), sealedOnRampSecret, '?apiKey=pk'],
  signCoinbaseToken: [deployment.holder('on-ramp-2'), sealedOnRampKey, COINBASE_CALL],
  createIntegrityKey: [deployment.installationKey, 1],
  lendIntegrityKey: [deployment.installationKey, integrity.keyId, 1, integrity.sealed],
  requireIntegrity: [integrity.keyId],
});

test('logins, on-ramps and integrity keys, with each argument and each of its members replaced by something else', {
  timeout: 120_000,
}, async () => {
  await loadServiceKeys();
  const junk: unknown[] = [undefined, null, 0, -1, 1.5, Number.NaN, true, 7n, {}, [], new Map(), new Date(0), /x/];
  const texts: unknown[] = ['', '\ud800', '__proto__', 'x'.repeat(100_000), new Uint8Array(0), new Uint8Array(65)];
  const calls = loginCalls();
  const accepted: string[] = [];
  for (const [method, args] of Object.entries(calls)) {
    const { body, refusal } = await call(method, args);
    expect([method, refusal]).toEqual([method, undefined]);
    if (method === 'lendOauthSecret') {
      expect(Buffer.from(unpack(body as Uint8Array) as Uint8Array).toString('utf8')).toBe(CLIENT_SECRET);
    }
    if (method === 'lendIntegrityKey')
      expect(toHex(unpack(body as Uint8Array) as Uint8Array)).toBe(toHex(integrityKey));
    // What the right call answered; from here on there must be no secret in any answer.
    answers.length = 0;
    for (const [index, argument] of args.entries()) {
      const members = isPlain(argument) ? Object.keys(argument) : [];
      for (const value of [...junk, ...texts]) {
        const replaced = [value, ...members.map((name) => ({ ...(argument as object), [name]: value }))];
        for (const each of replaced) {
          const answer = await call(method, args.with(index, each));
          if (answer.refusal !== undefined) expect(answer.refusal.code).toMatch(/^[A-Z_]+$/);
          else accepted.push(`${method} ${JSON.stringify(unpack(answer.body as Uint8Array)).slice(0, 17)}`);
        }
      }
      const shorter = await call(method, args.slice(0, index));
      expect(shorter.refusal?.code).toBe('INVALID_INPUT');
    }
  }
  // Taken all the same: attempts that are wrong, names that are odd, claims and times that are numbers. Nothing is
  // lent.
  const integrityCalls = ['createIntegrityKey', 'lendIntegrityKey', 'requireIntegrity'];
  const refusing = ['createCredential', 'lendOauthSecret', 'signMoonpayQuery', ...integrityCalls];
  expect(new Set(accepted.map((text) => text.split(' ')[0]))).toEqual(
    new Set(Object.keys(calls).filter((method) => !refusing.includes(method))),
  );
  expect(accepted.filter((text) => text.startsWith('checkOtp') && !text.includes('{"matches":false}'))).toEqual([]);
  await checkAlive();
  checkNoSecret();
});

test('logins, on-ramps and integrity keys, with blobs that were changed, moved or made for something else', async () => {
  await loadServiceKeys();
  const right: [string, string, Uint8Array, unknown[]][] = [
    ['checkOtp', 'otp-1', sealedOtp, [{ code: OTP_CODE }]],
    ['lendOauthSecret', 'credential-1', sealedClientSecret, []],
    ['signMoonpayQuery', 'on-ramp-1', sealedOnRampSecret, ['?apiKey=pk']],
    ['signCoinbaseToken', 'on-ramp-2', sealedOnRampKey, [COINBASE_CALL]],
  ];
  for (const [method, ownerId, blob, rest] of right) {
    const holder = deployment.holder(ownerId);
    expect((await call(method, [holder, blob, ...rest])).body).toBeDefined();
    answers.length = 0;
    const all = [sealedKey, sealedSeed, sealedOtp, sealedClientSecret, sealedOnRampSecret, sealedOnRampKey];
    const blobs = [...all, deployment.keys[0]!.sealed].filter((each) => each !== blob);
    for (let bit = 0; bit < blob.length * 8; bit += 61) blobs.push(flipped(blob, bit));
    for (const other of blobs) expect((await call(method, [holder, other, ...rest])).refusal?.code).toBe('NOT_OPENED');
    const holders = [
      deployment.holder('another'),
      { ...holder, organizationId: 'another' },
      { ...holder, organizationKey: deployment.installationKey, organizationId: 'deployment' },
    ];
    for (const other of holders) {
      expect((await call(method, [other, blob, ...rest])).refusal?.code).toBe('NOT_OPENED');
    }
    // With the name of the deployment in place of an organization's, too, a service key is not lent.
    const [service] = deployment.keys;
    const deploymentHolder = {
      organizationKey: deployment.installationKey,
      organizationId: 'deployment',
      ownerId: service!.keyId,
    };
    expect((await call(method, [deploymentHolder, service!.sealed, ...rest])).refusal?.code).toBe('NOT_OPENED');
  }
  const { keyId, sealed } = integrity;
  const [service] = deployment.keys;
  const lend = (...args: unknown[]): Promise<Answer> => call('lendIntegrityKey', args);
  expect((await lend(deployment.installationKey, keyId, 1, sealed)).body).toBeDefined();
  answers.length = 0;
  const all = [sealedKey, sealedSeed, sealedOtp, sealedClientSecret, sealedOnRampSecret, sealedOnRampKey];
  const blobs = [...all, service!.sealed];
  for (let bit = 0; bit < sealed.length * 8; bit += 61) blobs.push(flipped(sealed, bit));
  for (const other of blobs)
    expect((await lend(deployment.installationKey, keyId, 1, other)).refusal?.code).toBe('NOT_OPENED');
  // A service key is none, also by its own name; nor does another organization's key open one.
  expect((await lend(deployment.installationKey, service!.keyId, 1, service!.sealed)).refusal?.code).toBe('NOT_OPENED');
  const { organizationKey } = deployment.holder(OWNER);
  for (const [key, id] of [
    [organizationKey, keyId],
    [deployment.installationKey, service!.keyId],
  ])
    expect((await lend(key, id, 1, sealed)).refusal?.code).toBe('NOT_OPENED');
  checkNoSecret();
});

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !Array.isArray(value);

test('the same id twice, and more calls than any client has', async () => {
  for (let index = 0; index < 5_000; index += 1) {
    send(frame(5, numberOf('createOrganizationKey'), serialize(['o'])));
  }
  await checkAlive();
});

test('a process of another version refuses to start', async () => {
  const host = fileURLToPath(new URL('../../dist/process/host.js', import.meta.url));
  const settings = { rootKey: `file:${join(folder, 'root.key')}`, threads: 1 };
  const other = fork(host, [JSON.stringify(settings)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
  });
  const ended = once(other, 'exit');
  other.send({ create: false, methods: ['sign'] });
  const [notice] = await once(other, 'message');
  expect(notice).toMatchObject({ type: 'failed', refusal: { code: 'UNAVAILABLE' } });
  await ended;
});

describe('a line', () => {
  const start = async (): Promise<ChildProcess> => {
    const other = startKeyringProcess({ rootKey: `file:${join(folder, 'root.key')}`, threads: 2 });
    other.send({ create: false, methods: METHODS });
    await once(other, 'message');
    other.send({ type: 'wake' });
    await once(other, 'message');
    return other;
  };

  test('with bytes that are no frames is of no use to anyone, and the others are', async () => {
    const other = await start();
    const [first, second] = pipesOf(other) as [Pipe, Pipe];
    // It announces 4 GiB, which nobody keeps.
    first.write(Buffer.alloc(100_000, 255));
    second.write(frame(1, numberOf('createOrganizationKey'), serialize(['o'])));
    await once(second, 'data');
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    const ended = once(other, 'exit');
    other.disconnect();
    expect(await ended).toEqual([0, null]);
  });

  test('that is closed ends the process, which its service starts again', async () => {
    const other = await start();
    const ended = once(other, 'exit');
    pipesOf(other)[1]?.destroy();
    expect(await ended).toEqual([1, null]);
  });
});
