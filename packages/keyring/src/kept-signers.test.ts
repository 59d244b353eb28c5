import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { codeOf } from '../test/fixtures/client.ts';
import type { KeyNode } from './derive/node.ts';
import type { Curve, Holder, SigningKey, SigningScheme } from './index.ts';
import { LocalKeyring } from './local-keyring.ts';
import { NodeCache } from './node-cache.ts';
import { joinSignature } from './sign/signature.ts';

// An account that signed is kept for its next signature: SPEC.md, section 5.

const PAYLOAD = new Uint8Array(32).fill(7);
type Account = readonly [curve: Curve, path: string, scheme: SigningScheme];
const KEYS: readonly [Account, Account, Account] = [
  ['CURVE_SECP256K1', "m/44'/60'/0'/0/0", 'ecdsa'],
  ['CURVE_P256', "m/44'/60'/0'/0/0", 'ecdsa'],
  ['CURVE_ED25519', "m/44'/501'/0'/0'", 'eddsa'],
];

let folder: string;
let keyring: LocalKeyring;
let holder: Holder;
let sealed: Uint8Array;
let derived: MockInstance<NodeCache['deriveSigner']>;

const open = (): Promise<LocalKeyring> => LocalKeyring.open(`file:${join(folder, 'root.key')}`, true);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-signers-'));
  keyring = await open();
  const organizationKey = await keyring.createOrganizationKey('o');
  holder = { organizationKey, organizationId: 'o', ownerId: 'w' };
  ({ sealedSeed: sealed } = await keyring.createWallet(holder, 12, []));
  derived = vi.spyOn(NodeCache.prototype, 'deriveSigner');
});
afterEach(async () => {
  vi.useRealTimers();
  derived.mockRestore();
  await keyring.close();
  await rm(folder, { recursive: true });
});

const accountOf = ([curve, path]: Account = KEYS[0]): SigningKey => ({
  kind: 'wallet',
  sealed,
  curve,
  path,
});
async function sign(
  key: SigningKey = accountOf(),
  { scheme = 'ecdsa', by = holder, on = keyring }: { scheme?: SigningScheme; by?: Holder; on?: LocalKeyring } = {},
): Promise<string> {
  const [signature] = await on.sign(by, key, scheme, [PAYLOAD]);
  if (signature === undefined) throw new Error('there is no signature');
  return Buffer.from(joinSignature(signature)).toString('hex') + signature.v;
}
const keptNodes = (): KeyNode[] => derived.mock.results.flatMap(({ value }) => (value === undefined ? [] : [value]));

test.each(KEYS)('%s: the next signature derives nothing and is the same', async (curve, path, scheme) => {
  const key = accountOf([curve, path, scheme]);
  const first = await sign(key, { scheme });
  const calls = derived.mock.calls.length;
  expect(await sign(key, { scheme })).toBe(first);
  expect(derived).toHaveBeenCalledTimes(calls);
  await using other = await open();
  expect(await sign(key, { scheme, on: other })).toBe(first);
});

test('Ed25519: two spellings of a path sign alike, whichever is kept', async () => {
  const spelled = (path: string) => sign({ kind: 'wallet', sealed, curve: 'CURVE_ED25519', path }, { scheme: 'eddsa' });
  const hardened = await spelled("m/44'/501'/0'");
  expect([await spelled('m/44/501/0'), await spelled("m/44'/501'/0"), await spelled("m/44'/501'/0'")]).toEqual([
    hardened,
    hardened,
    hardened,
  ]);
  expect(await spelled("m/44'/501'/1'")).not.toBe(hardened);
});

test.each(KEYS)('%s: it is wiped after a minute, however often it signed, and derived again', async (...account) => {
  const [, , scheme] = account;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const first = await sign(accountOf(account), { scheme });
  const [node] = keptNodes();
  for (let half = 0; half < 2; half += 1) {
    vi.advanceTimersByTime(29_000);
    expect(await sign(accountOf(account), { scheme })).toBe(first);
  }
  expect(keptNodes()).toHaveLength(1);
  vi.advanceTimersByTime(3_000);
  expect(() => node?.privateKey()).toThrow('wiped');
  expect(() => node?.signingKey(() => expect.unreachable())).toThrow('wiped');
  vi.useRealTimers();
  expect(await sign(accountOf(account), { scheme })).toBe(first);
});

test('it signs for nobody else, and for no other seed', async () => {
  await sign();
  const others: Holder[] = [
    { ...holder, ownerId: 'v' },
    { ...holder, organizationId: 'p' },
    { ...holder, organizationKey: await keyring.createOrganizationKey('o') },
    { ...holder, organizationKey: await keyring.createOrganizationKey('p'), organizationId: 'p' },
  ];
  for (const by of others) expect(await codeOf(sign(accountOf(), { by }))).toBe('NOT_OPENED');
  const damaged = Uint8Array.from(sealed);
  damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
  expect(await codeOf(sign({ ...accountOf(), sealed: damaged }))).toBe('NOT_OPENED');
  const { sealedSeed } = await keyring.createWallet(holder, 12, []);
  expect(await sign({ ...accountOf(), sealed: sealedSeed })).not.toBe(await sign());
});

test('it signs no more once the root key of its holder is gone', async () => {
  await sign();
  const before = keyring.rootKeyId;
  await keyring.addRootKey();
  await sign();
  await keyring.removeRootKey(before);
  expect(await codeOf(sign())).toBe('UNKNOWN_ROOT_KEY');
});

test('close wipes it', async () => {
  await sign();
  const [node] = keptNodes();
  expect(node?.privateKey().some((byte) => byte !== 0)).toBe(true);
  await keyring.close();
  expect(() => node?.privateKey()).toThrow('wiped');
  expect(await codeOf(sign())).toBe('INVALID_INPUT');
});

test('more accounts than are kept all sign rightly', async () => {
  const at = (index: number): Promise<string> =>
    sign({ ...accountOf(KEYS[2]), path: `m/${index}'` } as SigningKey, { scheme: 'eddsa' });
  const first = await Promise.all(Array.from({ length: 1100 }, (_, index) => at(index)));
  expect(new Set(first).size).toBe(1100);
  expect([await at(0), await at(1099)]).toEqual([first[0], first[1099]]);
});
