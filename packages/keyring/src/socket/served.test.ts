import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import { codeOf, deploy, encryptTo, Receiver } from '../../test/fixtures/client.ts';
import { METHODS, transportOf } from '../calls/table.ts';
import {
  createKeyring,
  INSTALLATION_ID,
  type Keyring,
  type KeyringError,
  type KeyringObserver,
  lookAtSocket,
} from '../index.ts';
import type { ProcessKeyring } from '../process/client.ts';
import { encodeFrame } from '../process/frame.ts';
import { numberOf } from '../process/protocol.ts';
import { connectServed } from './connect.ts';
import * as handshake from './handshake.ts';
import { readLinkKey } from './link-key.ts';
import { KeyringServer, type ServedKeyringOptions } from './server.ts';

const receiver = new Receiver();
const INTEGRITY_ID = '0123456789abcdef0123456789abcdef';
const QUIET: KeyringObserver = {
  lost: () => {},
  restored: () => {},
  serviceKeysRefused: () => {},
  threadRefused: () => {},
  pingLate: () => {},
};

let folder: string;
let path: string;
let keyFile: string;
let rootKey: string;
let count = 0;

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-socket-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  count += 1;
  const own = join(folder, String(count));
  await mkdir(own, { mode: 0o700 });
  path = join(own, 'run', 'keyring.sock');
  rootKey = `file:${join(own, 'root.key')}`;
  keyFile = await newKeyFile(join(own, 'link.key'));
});

async function newKeyFile(file: string, text = `${randomBytes(32).toString('hex')}\n`): Promise<string> {
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

async function serve(options: Partial<ServedKeyringOptions> = {}): Promise<KeyringServer> {
  const server = await KeyringServer.listen({ path, keyFile, rootKey, ...options });
  onTestFinished(() => server.close());
  return server;
}

async function use(
  options: { threads?: number; observer?: KeyringObserver; create?: boolean } = {},
): Promise<ProcessKeyring> {
  const { threads = 2, create = true, observer = QUIET } = options;
  const keyring = await createKeyring({ rootKey: '', create, served: { path, keyFile }, threads, observer });
  onTestFinished(() => keyring.close());
  return keyring as ProcessKeyring;
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = (await promise.then(
    () => new Error('no refusal'),
    (reason: unknown) => reason,
  )) as KeyringError;
  return `${error.code}: ${error.message}`;
}

async function exportFrom(keyring: Keyring, organizationId: string): Promise<string> {
  const owner = { organizationKey: await keyring.createOrganizationKey(organizationId), organizationId, ownerId: 'k' };
  const { sealedKey } = await keyring.createPrivateKey(owner, 'CURVE_ED25519', []);
  return keyring.exportPrivateKey(owner, sealedKey, receiver.publicKey);
}

async function importInto(keyring: Keyring, organizationId: string): Promise<unknown> {
  const organizationKey = await keyring.createOrganizationKey(organizationId);
  const holder = (ownerId: string) => ({ organizationKey, organizationId, ownerId });
  const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(holder('t'), 'u');
  const bundle = encryptTo(targetPublicKey, new Uint8Array(32).fill(1));
  return keyring.importPrivateKey(holder('k'), [{ id: 't', sealed: sealedTarget }], bundle, 'CURVE_ED25519', []);
}

describe('a keyring on a socket', () => {
  test('does what one in a process of the service does, for several services', async () => {
    const server = await serve();
    expect((await stat(path)).mode & 0o777).toBe(0o660);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o750);
    const [one, other] = [await use(), await use({ create: false })];
    expect(server.sessionCount).toBe(2);
    expect(one.rootKeyId).toBe(other.rootKeyId);
    const { holder, installationKey, keys } = await deploy(one);
    const { sealedSeed, accounts } = await one.createWallet(holder('w'), 12, [
      { curve: 'CURVE_ED25519', path: "m/44'/501'/0'/0'", addressFormat: 'ADDRESS_FORMAT_SOLANA' },
    ]);
    expect(accounts).toHaveLength(1);
    const key = { kind: 'wallet', sealed: sealedSeed, curve: 'CURVE_ED25519', path: "m/44'/501'/0'/0'" } as const;
    const payloads = Array.from({ length: 200 }, (_, index) => Uint8Array.of(index));
    const signatures = await Promise.all(payloads.map((payload) => other.sign(holder('w'), key, 'eddsa', [payload])));
    expect(signatures.flat()).toEqual(await one.sign(holder('w'), key, 'eddsa', payloads));
    // Each has the service keys that it was given.
    expect(await codeOf(other.signIdToken({ sub: 'x' }))).toBe('UNAVAILABLE');
    await other.loadServiceKeys(installationKey, keys);
    await other.signIdToken({ sub: 'x' });
    await one.close();
    await other.ping();
    await vi.waitFor(() => expect(server.sessionCount).toBe(1));
  });

  test('opens no ring of its own accord, and makes none unless it is told to', async () => {
    await serve();
    expect(await refusal(use({ create: false }))).toContain('ROOT_KEY_MISSING');
    expect(existsSync(rootKey.slice('file:'.length))).toBe(false);
    const keyring = await use();
    expect(keyring.hasRootKey(keyring.rootKeyId)).toBe(true);
    expect((await stat(rootKey.slice('file:'.length))).mode & 0o777).toBe(0o600);
  });

  test('has no administration, whatever the service asks for', async () => {
    await serve();
    const keyring = await use();
    const changing = METHODS.filter((method) => {
      const { to, isForServices } = transportOf(method).route;
      return to === 'ring' && isForServices !== true;
    });
    expect(changing).toHaveLength(5);
    for (const method of changing) expect(await codeOf(keyring.perform(method, [])), method).toBe('NOT_ALLOWED');
    // The ring is changed beside it, and it finds out.
    await using beside = await createKeyring({ rootKey });
    const added = await beside.addRootKey();
    expect((await keyring.refreshRing()).active).toBe(added);
  });

  test('requires integrity for a service, durably and for the others too', async () => {
    await serve();
    const [one, other] = [await use(), await use({ create: false })];
    expect(await one.integrityRequired()).toEqual([]);
    await one.requireIntegrity(INTEGRITY_ID);
    // Many at once are one change, and each is answered.
    await Promise.all(Array.from({ length: 50 }, () => other.requireIntegrity(INTEGRITY_ID)));
    for (const each of [one, other]) {
      expect(await each.integrityRequired()).toEqual([INTEGRITY_ID]);
      expect((await each.refreshRing()).requiresIntegrity).toEqual([INTEGRITY_ID]);
    }
    const ringPath = rootKey.slice('file:'.length);
    expect((await stat(ringPath)).mode & 0o777).toBe(0o600);
    expect((await readdir(dirname(ringPath))).filter((name) => name.startsWith('root.key'))).toEqual(['root.key']);
    await one.close();
    const later = await use({ create: false });
    expect(await later.integrityRequired()).toEqual([INTEGRITY_ID]);
    // The key itself crosses the socket as it was made.
    const installationKey = await later.createOrganizationKey(INSTALLATION_ID);
    const { keyId, sealed } = await later.createIntegrityKey(installationKey, 1);
    const lent = await later.lendIntegrityKey(installationKey, keyId, 1, sealed);
    expect(lent).toHaveLength(32);
    expect(await other.lendIntegrityKey(installationKey, keyId, 1, sealed)).toEqual(lent);
  });

  test('counts the exports of all services together, also over new sessions', async () => {
    await serve({ exportLimits: { perOrganization: 1, inAll: 2 } });
    const first = await use();
    const { installationKey, keys } = await deploy(first);
    await exportFrom(first, 'a');
    expect(await codeOf(exportFrom(first, 'a'))).toBe('TOO_MANY_EXPORTS');
    await first.close();
    const second = await use();
    await second.loadServiceKeys(installationKey, keys);
    expect(await codeOf(exportFrom(second, 'a'))).toBe('TOO_MANY_EXPORTS');
    await exportFrom(second, 'b');
    const last = (await exportFrom(second, 'c').catch((error: unknown) => error)) as KeyringError;
    expect([last.code, last.message]).toEqual(['TOO_MANY_EXPORTS', 'the keyring makes 2 exports a minute in all']);
    expect(last.retryAfterSeconds).toBeGreaterThan(0);
  });

  test('counts the imports of all services together, also over new sessions', async () => {
    await serve({ importLimits: { perOrganization: 1, inAll: 2 } });
    const first = await use();
    const { installationKey, keys } = await deploy(first);
    await importInto(first, 'a');
    expect(await codeOf(importInto(first, 'a'))).toBe('TOO_MANY_IMPORTS');
    // Exports are counted for themselves.
    await exportFrom(first, 'a');
    await first.close();
    const second = await use();
    await second.loadServiceKeys(installationKey, keys);
    expect(await codeOf(importInto(second, 'a'))).toBe('TOO_MANY_IMPORTS');
    await importInto(second, 'b');
    const last = (await importInto(second, 'c').catch((error: unknown) => error)) as KeyringError;
    expect([last.code, last.message]).toEqual(['TOO_MANY_IMPORTS', 'the keyring takes 2 imports a minute in all']);
    expect(last.retryAfterSeconds).toBeGreaterThan(0);
  });

  test('goes away and comes back: calls fail meanwhile, and the service finds it by itself', async () => {
    const told: string[] = [];
    const observer = { ...QUIET, lost: (reason: string) => told.push(reason), restored: () => told.push('restored') };
    const server = await serve();
    const keyring = await use({ observer });
    const { holder } = await deploy(keyring);
    await server.close();
    await vi.waitFor(() => expect(told).toContain('ended'));
    expect(existsSync(path)).toBe(false);
    expect(await refusal(keyring.createWallet(holder('w'), 12, []))).toContain(
      'UNAVAILABLE: the keyring process is gone',
    );
    expect(await codeOf(keyring.ping())).toBe('UNAVAILABLE');
    expect(keyring.hasRootKey(keyring.rootKeyId)).toBe(false);
    await vi.waitFor(() => expect(told).toContain('start-failed'));
    await serve();
    await keyring.ready();
    expect(told.at(-1)).toBe('restored');
    // With the service keys that it had.
    await keyring.signIdToken({ sub: 'x' });
  });

  test('a process that refuses its order ends its session, and no other', async () => {
    const server = await serve();
    const keyring = await use();
    const before = server.sessionCount;
    const child = await connectServed({ path, keyFile }, 1);
    child.send?.({ create: false, methods: ['sign'] }, () => {});
    const [notice] = await once(child, 'message');
    expect(notice).toMatchObject({ type: 'failed', refusal: { code: 'UNAVAILABLE' } });
    await once(child, 'exit');
    await vi.waitFor(() => expect(server.sessionCount).toBe(before));
    await keyring.ping();
  });
});

describe('what comes before a proof', () => {
  const open = async (): Promise<Socket> => {
    const socket = connect(path);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  const ended = (socket: Socket): Promise<unknown> => {
    socket.resume();
    return socket.closed ? Promise.resolve() : once(socket, 'close');
  };

  test('is a fixed number of bytes, in little time', async () => {
    const server = await serve({ handshakeMs: 200 });
    // Nothing, half a claim, garbage, and far more than a claim.
    for (const bytes of [0, 40, handshake.CLAIM_BYTES, 1_000_000]) {
      const socket = await open();
      if (bytes > 0) socket.write(randomBytes(bytes));
      await ended(socket);
    }
    expect(server.sessionCount).toBe(0);
    await (await use()).ping();
  });

  test('with the right proof and more behind it, or again, is refused', async () => {
    await serve();
    const key = await readLinkKey(keyFile);
    const claimed = async (more: Buffer): Promise<{ reply: number; claim: Buffer }> => {
      const socket = await open();
      const [greeting] = (await once(socket, 'data')) as [Buffer];
      const { bytes } = handshake.makeClaim(key, handshake.claimSession(), handshake.readGreeting(greeting) as Buffer);
      socket.write(Buffer.concat([bytes, more]));
      const [reply] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return { reply: reply[0] as number, claim: bytes };
    };
    const { claim, reply } = await claimed(Buffer.alloc(0));
    expect(reply).toBe(handshake.ANSWERED.accepted);
    expect((await claimed(Buffer.of(1))).reply).toBe(handshake.ANSWERED.wrongKey);
    const replaying = await open();
    await once(replaying, 'data');
    replaying.write(claim);
    const [again] = (await once(replaying, 'data')) as [Buffer];
    expect(again[0]).toBe(handshake.ANSWERED.wrongKey);
    // Calls are not heard on a connection that has proven nothing.
    const calling = await open();
    calling.write(encodeFrame(1, numberOf('createOrganizationKey'), ['o']));
    await ended(calling);
  });

  test('many strangers at once keep nobody out for long', async () => {
    await serve({ handshakeMs: 300 });
    const strangers = await Promise.all(Array.from({ length: 100 }, open));
    await Promise.all(strangers.map(ended));
    await (await use()).ping();
  });
});

describe('after the proof', () => {
  test('a session that says what is no message, or opens without its lines, is ended with a reason', async () => {
    const server = await serve();
    const session = () => connectServed({ path, keyFile }, 1);
    const said = async (message: object): Promise<string> => {
      const child = await session();
      child.send?.(message, () => {});
      const [, how] = await once(child, 'exit');
      return how;
    };
    expect(await said({ type: 'wake' })).toBe('the keyring was sent a message that it does not know');
    expect(await said({ type: 'open', threads: 3, order: {} })).toBe('a session has a line for each of its threads');
    expect(await said({ type: 'x'.repeat(100_000) })).toMatch(/no message|does not know/);
    await vi.waitFor(() => expect(server.sessionCount).toBe(0));
  });

  test('a line joins no session but its own, and none that is open', async () => {
    await serve();
    const key = await readLinkKey(keyFile);
    const answer = async (session: Buffer, index: number): Promise<number> => {
      const socket = connect(path);
      const [greeting] = (await once(socket, 'data')) as [Buffer];
      const claim = { kind: handshake.CONNECTION.line, session, index } as const;
      socket.write(handshake.makeClaim(key, claim, handshake.readGreeting(greeting) as Buffer).bytes);
      const [reply] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return reply[0] as number;
    };
    await use();
    expect(await answer(randomBytes(16), 0)).toBe(handshake.ANSWERED.noSession);
    expect(await answer(Buffer.alloc(16), 255)).toBe(handshake.ANSWERED.noSession);
  });
});

describe('a service', () => {
  const listen = async (server: Server, mode = 0o750): Promise<void> => {
    await mkdir(join(path, '..'), { mode });
    await chmod(join(path, '..'), mode);
    server.listen(path);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  };
  const attempt = (file = keyFile) => refusal(connectServed({ path, keyFile: file }, 1));

  test('is told what is wrong with the key file', async () => {
    await serve();
    const wrong = await newKeyFile(join(folder, 'wrong.key'));
    expect(await attempt(wrong)).toContain('leads to a keyring with another key file');
    await chmod(wrong, 0o644);
    expect(await attempt(wrong)).toContain('has mode 0644');
    await chmod(wrong, 0o640);
    expect(await attempt(wrong)).toContain('another key file');
    expect(await attempt(join(folder, 'none.key'))).toContain('cannot be read (ENOENT)');
    expect(await attempt(folder)).toContain('is not a regular file');
    for (const text of ['', 'x'.repeat(64), '00'.repeat(31), '00'.repeat(33), '00'.repeat(5000)]) {
      expect(await attempt(await newKeyFile(join(folder, 'bad.key'), text))).toContain('64 hexadecimal digits');
    }
  });

  test('is told what is wrong with the socket', async () => {
    expect(await attempt()).toContain('UNAVAILABLE: no keyring listens at');
    path = `/tmp/${'x'.repeat(110)}.sock`;
    expect(await attempt()).toContain('a socket has room for');
    path = 'relative.sock';
    expect(await attempt()).toContain('must be an absolute path');
    path = join(folder, String(count), 'file');
    await writeFile(path, '');
    expect(await attempt()).toContain('is no socket');
  });

  test('does not talk to what others could have put there, and sends it no proof', async () => {
    let heard = 0;
    const impostor = createServer((socket) => socket.on('data', ({ length }) => (heard += length)));
    await listen(impostor, 0o770);
    expect(await attempt()).toContain('others could put another socket there');
    await chmod(join(path, '..'), 0o750);
    const link = join(folder, String(count), 'link');
    await symlink(join(path, '..'), link);
    path = join(link, 'keyring.sock');
    expect(await attempt()).toContain('behind a link');
    expect(heard).toBe(0);
  });

  test('nor where others could exchange a folder above, also behind links', async () => {
    await serve();
    const above = dirname(dirname(path));
    const direct = path;
    const linked = join(folder, String(count), 'a');
    await symlink('b', linked);
    await symlink(above, join(folder, String(count), 'b'));
    for (const way of [direct, join(linked, 'run', 'keyring.sock'), join(above, 'run', '..', 'run', 'keyring.sock')]) {
      path = way;
      await chmod(above, 0o777);
      expect(await attempt(), way).toContain(`is below ${above} of mode 0777`);
      // Where nobody renames what is another's.
      await chmod(above, 0o1777);
      expect(await lookAtSocket(path)).toEqual({ isOwnUser: true });
      await chmod(above, 0o711);
      (await connectServed({ path, keyFile }, 1)).kill();
    }
    path = join(folder, String(count), 'loop', 'keyring.sock');
    await symlink('loop', dirname(path));
    expect(await attempt()).toMatch(/behind a link|too many links/);
  });

  test('gives up at once when it is closed, also where the other end says nothing', async () => {
    const silent = createServer();
    await listen(silent, 0o750);
    const closing = new AbortController();
    const connection = once(silent, 'connection') as Promise<[Socket]>;
    const refused = refusal(connectServed({ path, keyFile }, 1, { waitMs: 60_000, closing: closing.signal }));
    const [other] = await connection;
    const closed = once(other.resume(), 'close');
    closing.abort();
    expect(await refused).toContain('UNAVAILABLE');
    await closed;
  });

  test('takes nobody for the keyring who does not hold the key', async () => {
    const answers = [
      (socket: Socket) => socket.end('hello'),
      (socket: Socket) => socket.end(randomBytes(41)),
      (socket: Socket) => {
        socket.write(handshake.greet().bytes);
        socket.once('data', () => socket.end(Buffer.concat([Buffer.of(0), randomBytes(48)])));
      },
    ];
    let turn = 0;
    await listen(createServer((socket) => answers[turn]?.(socket)));
    expect(await attempt()).toContain('says nothing');
    turn = 1;
    expect(await attempt()).toContain('no keyring of this version');
    turn = 2;
    expect(await attempt()).toContain('another key file');
  });

  test('knows whether the keyring runs as another user', async () => {
    await serve();
    expect(await lookAtSocket(path)).toEqual({ isOwnUser: true });
  });
});

describe('where a keyring listens', () => {
  /** Node removes the name of a server that it closes; a killed process does not. */
  async function leaveBehind(socket: string): Promise<void> {
    const abandoned = createServer().listen(socket);
    await once(abandoned, 'listening');
    await link(socket, `${socket}.kept`);
    abandoned.close();
    await once(abandoned, 'close');
    await rename(`${socket}.kept`, socket);
  }

  const failure = (options: Partial<ServedKeyringOptions> = {}) =>
    refusal(KeyringServer.listen({ path, keyFile, rootKey, ...options }));

  test('nobody else does', async () => {
    await serve();
    const keyring = await use();
    expect(await failure()).toContain('has a keyring that listens already');
    await keyring.ping();
    await (await use()).ping();
    expect(await readdir(join(path, '..'))).toEqual(['keyring.sock']);
  });

  test('a socket that a killed one left behind is replaced', async () => {
    await mkdir(dirname(path), { mode: 0o750 });
    await leaveBehind(path);
    await serve();
    await (await use()).ping();
    expect(await readdir(join(path, '..'))).toEqual(['keyring.sock']);
  });

  test('the folder is its own, and closed to others', async () => {
    await mkdir(join(path, '..'));
    for (const mode of [0o755, 0o770, 0o777, 0o751]) {
      await chmod(join(path, '..'), mode);
      expect(await failure()).toContain(`is in a folder of mode ${mode.toString(8).padStart(4, '0')}`);
    }
    await chmod(join(path, '..'), 0o700);
    await serve();
  });

  test('something else in its place stays', async () => {
    await mkdir(join(path, '..'), { mode: 0o750 });
    await writeFile(path, 'mine');
    expect(await failure()).toContain('is there already, and no socket');
    expect(existsSync(path)).toBe(true);
    expect(await failure({ path: `/tmp/${'x'.repeat(110)}` })).toContain('a socket has room for');
    // A first start would succeed, and no later one: a socket that is left behind is renamed before it goes.
    const own = dirname(path);
    const max = process.platform === 'linux' ? 100 : 96;
    const longest = join(own, 'x'.repeat(max - Buffer.byteLength(own) - 1));
    expect(await failure({ path: `${longest}x` })).toContain(`a socket has room for ${max}`);
    await leaveBehind(longest);
    await serve({ path: longest });
    expect(await failure({ path: join(folder, 'no', 'such', 'folder') })).toContain('cannot be made (ENOENT)');
  });
});
