import { createHash, createPublicKey, verify as nodeVerify, randomBytes, randomUUID } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bech32m } from '@scure/base';
import fc from 'fast-check';
import { type Hex, hashTypedData, recoverAddress, verifyTypedData } from 'viem';
import { hashAuthorization, recoverAuthorizationAddress } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { account, approve, COMPLETED, importKey, needTwo, newWallet, outcome, PENDING } from './fixtures/wallets.ts';

const HEX = 'PAYLOAD_ENCODING_HEXADECIMAL';
const TEXT = 'PAYLOAD_ENCODING_TEXT_UTF8';
const EIP712 = 'PAYLOAD_ENCODING_EIP712';
const EIP7702 = 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
const NO_OP = 'HASH_FUNCTION_NO_OP';
const SHA256 = 'HASH_FUNCTION_SHA256';
const KECCAK256 = 'HASH_FUNCTION_KECCAK256';
const NOT_APPLICABLE = 'HASH_FUNCTION_NOT_APPLICABLE';

const HALF_ORDER = {
  secp256k1: secp256k1.Point.Fn.ORDER / 2n,
  p256: p256.Point.Fn.ORDER / 2n,
};

interface Signature {
  readonly r: string;
  readonly s: string;
  readonly v: string;
}

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const sha256 = (bytes: Uint8Array): Uint8Array => Uint8Array.from(createHash('sha256').update(bytes).digest());
const compact = ({ r, s }: Signature): Uint8Array => bytesOf(r + s);

/** protocol/signing 2.4. */
function isWellFormed({ r, s, v }: Signature): boolean {
  return [r, s].every((part) => /^[0-9a-f]{64}$/.test(part)) && ['00', '01'].includes(v);
}

/** ECDSA over a digest by this key: valid, low, and with the parity that recovers it. */
function isEcdsa(signature: Signature, digest: Uint8Array, publicKey: string, curve: 'secp256k1' | 'p256'): boolean {
  const library = curve === 'p256' ? p256 : secp256k1;
  const recovered = library.Signature.fromBytes(compact(signature), 'compact')
    .addRecoveryBit(Number(signature.v))
    .recoverPublicKey(digest)
    .toHex(true);
  return (
    isWellFormed(signature) &&
    BigInt(`0x${signature.s}`) <= HALF_ORDER[curve] &&
    library.verify(compact(signature), digest, bytesOf(publicKey), { prehash: false, lowS: true }) &&
    recovered === publicKey
  );
}

const isEd25519 = (signature: Signature, message: Uint8Array, publicKey: string): boolean =>
  isWellFormed(signature) && signature.v === '00' && ed25519.verify(compact(signature), message, bytesOf(publicKey));

const isSchnorr = (signature: Signature, digest: Uint8Array, xOnly: Uint8Array): boolean =>
  isWellFormed(signature) && signature.v === '00' && schnorr.verify(compact(signature), digest, xOnly);

const TYPED_DATA = {
  domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: `0x${'cc'.repeat(20)}` as Hex },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person[]' },
      { name: 'contents', type: 'string' },
      { name: 'amount', type: 'uint256' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { name: 'Cow', wallet: `0x${'c0'.repeat(20)}` },
    to: [{ name: 'Bob', wallet: `0x${'b0'.repeat(20)}` }],
    contents: 'Hello, Bob! ✓',
    amount: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  },
} as const;

/** Accounts of one wallet by what they are called here. */
const ACCOUNTS = {
  ethereum: account('SECP256K1', "m/44'/60'/0'/0/0", 'ETHEREUM'),
  uncompressed: account('SECP256K1', "m/0'/0", 'UNCOMPRESSED'),
  cosmos: account('SECP256K1', "m/44'/118'/0'/0/0", 'COSMOS'),
  segwit: account('SECP256K1', "m/84'/0'/0'/0/0", 'BITCOIN_MAINNET_P2WPKH'),
  taproot: account('SECP256K1', "m/86'/0'/0'/0/0", 'BITCOIN_MAINNET_P2TR'),
  taprootTestnet: account('SECP256K1', "m/86'/1'/0'/0/0", 'BITCOIN_TESTNET_P2TR'),
  spark: account('SECP256K1', "m/8797555'/0'/0'", 'SPARK_MAINNET'),
  solana: account('ED25519', "m/44'/501'/0'/0'", 'SOLANA'),
  sui: account('ED25519', "m/44'/784'/0'/0'/0'", 'SUI'),
  p256: account('P256', "m/44'/1'/0'/0/0", 'COMPRESSED'),
} as const;
type AccountName = keyof typeof ACCOUNTS;

interface Signer {
  readonly walletAccountId: string;
  readonly address: string;
  readonly publicKey: string;
}

describe.each(databasesOf(import.meta.url))('signing on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;
  let signers: Record<AccountName, Signer>;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Signing');
    const { walletId } = await newWallet(root, Object.values(ACCOUNTS));
    const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body;
    signers = Object.fromEntries(Object.keys(ACCOUNTS).map((name, index) => [name, accounts[index]])) as never;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const submit = (signWith: string, payload: string, encoding: string, hashFunction: string, client = root) =>
    client.submit('sign_raw_payload', { signWith, payload, encoding, hashFunction });
  const sign = async (signWith: string, payload: string, encoding: string, hashFunction: string): Promise<Signature> =>
    root.run('sign_raw_payload', { signWith, payload, encoding, hashFunction });

  describe('ECDSA', () => {
    const message = Buffer.from('Grüße, 世界 \u0000 🌍', 'utf8');
    const inputs: [string, string, string, Uint8Array][] = [
      ['hex as a digest', HEX, NO_OP, sha256(Buffer.from('digest'))],
      ['hex with SHA-256', HEX, SHA256, message],
      ['hex with Keccak-256', HEX, KECCAK256, message],
      ['text with SHA-256', TEXT, SHA256, message],
      ['text with Keccak-256', TEXT, KECCAK256, message],
      ['no bytes with SHA-256', HEX, SHA256, new Uint8Array()],
      ['no text with Keccak-256', TEXT, KECCAK256, new Uint8Array()],
      ['text of 32 bytes as a digest', TEXT, NO_OP, Buffer.from('exactly thirty-two bytes of text')],
    ];
    const digestOf = (hash: string, bytes: Uint8Array): Uint8Array =>
      hash === SHA256 ? sha256(bytes) : hash === KECCAK256 ? keccak_256(bytes) : Uint8Array.from(bytes);

    test.each(inputs)('%s', async (_name, encoding, hash, bytes) => {
      const digest = digestOf(hash, bytes);
      const spellings =
        encoding === HEX
          ? [Buffer.from(bytes).toString('hex'), `0x${Buffer.from(bytes).toString('hex').toUpperCase()}`]
          : [Buffer.from(bytes).toString('utf8')];
      for (const name of ['ethereum', 'uncompressed', 'cosmos', 'segwit', 'p256'] as const) {
        const { address, publicKey } = signers[name];
        for (const payload of spellings) {
          const signature = await sign(address, payload, encoding, hash);
          const curve = name === 'p256' ? 'p256' : 'secp256k1';
          expect(isEcdsa(signature, digest, publicKey, curve), name).toBe(true);
        }
      }
    });

    test('is deterministic, and v recovers the address that signed', async () => {
      const { address } = signers.ethereum;
      const parities = new Set<string>();
      for (let index = 0; parities.size < 2 || index < 5; index += 1) {
        const payload = createHash('sha256').update(`payload ${index}`).digest('hex');
        const signature = await sign(address, payload, HEX, NO_OP);
        expect(await sign(address, payload, HEX, NO_OP)).toEqual(signature);
        const { r, s, v } = signature;
        const rsv = `0x${r}${s}${(27 + Number(v)).toString(16)}` as const;
        expect(await recoverAddress({ hash: `0x${payload}`, signature: rsv })).toBe(address);
        parities.add(v);
      }
    });

    test('a short r or s keeps its zeros', async () => {
      // Of a thousand numbers of 32 bytes some begin with a zero; all are of full length.
      for (let round = 0; round < 5; round += 1) {
        const payloads = Array.from({ length: 100 }, (_, index) => `payload ${100 * round + index}`);
        const parameters = { signWith: signers.ethereum.address, payloads, encoding: TEXT, hashFunction: SHA256 };
        const { signatures } = await root.run('sign_raw_payloads', parameters);
        expect(signatures.filter(isWellFormed)).toHaveLength(100);
      }
    });
  });

  describe('Ed25519', () => {
    test.each([
      ['hex', HEX, Buffer.from('00ff10', 'hex')],
      ['text', TEXT, Buffer.from('Grüße 🌍')],
      ['nothing', HEX, new Uint8Array()],
      ['much', TEXT, Buffer.alloc(100_000, 'a')],
    ])('signs the message itself: %s', async (_name, encoding, bytes) => {
      const payload = Buffer.from(bytes).toString(encoding === HEX ? 'hex' : 'utf8');
      for (const name of ['solana', 'sui'] as const) {
        const { address, publicKey } = signers[name];
        const signature = await sign(address, payload, encoding, NOT_APPLICABLE);
        expect(isEd25519(signature, Uint8Array.from(bytes), publicKey)).toBe(true);
        const key = createPublicKey({
          key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'hex').toString('base64url') },
          format: 'jwk',
        });
        expect(nodeVerify(null, bytes, key, compact(signature))).toBe(true);
      }
    });

    test('has no hash function, and the others cannot do without', async () => {
      const digest = '11'.repeat(32);
      for (const hash of [NO_OP, SHA256, KECCAK256]) {
        expect(outcome(await submit(signers.solana.address, digest, HEX, hash))).toEqual([
          400,
          'INVALID_HASH_FUNCTION',
        ]);
      }
      for (const name of ['ethereum', 'taproot', 'spark', 'p256'] as const) {
        const answer = await submit(signers[name].address, digest, HEX, NOT_APPLICABLE);
        expect(outcome(answer), name).toEqual([400, 'INVALID_HASH_FUNCTION']);
      }
    });
  });

  describe('Schnorr', () => {
    const digest = sha256(Buffer.from('schnorr'));
    const hex = Buffer.from(digest).toString('hex');

    test.each(['taproot', 'taprootTestnet'] as const)('%s signs with the key that its address shows', async (name) => {
      const { address, publicKey } = signers[name];
      const [, ...program] = bech32m.decode(address as `${string}1${string}`).words;
      const tweaked = bech32m.fromWords(program);
      expect(tweaked).toHaveLength(32);
      const signature = await sign(address, hex, HEX, NO_OP);
      expect(isSchnorr(signature, digest, tweaked)).toBe(true);
      expect(isSchnorr(signature, digest, bytesOf(publicKey).subarray(1))).toBe(false);
      expect(isSchnorr(await sign(address, 'text', TEXT, SHA256), sha256(Buffer.from('text')), tweaked)).toBe(true);
    });

    test('Spark signs with its key as it is', async () => {
      const { address, publicKey } = signers.spark;
      const signature = await sign(address, `0x${hex}`, HEX, NO_OP);
      expect(isSchnorr(signature, digest, bytesOf(publicKey).subarray(1))).toBe(true);
    });
  });

  describe('typed data and authorizations', () => {
    test('EIP-712', async () => {
      const { address, publicKey } = signers.ethereum;
      const signature = await sign(address, JSON.stringify(TYPED_DATA), EIP712, NO_OP);
      expect(isEcdsa(signature, bytesOf(hashTypedData(TYPED_DATA as never).slice(2)), publicKey, 'secp256k1')).toBe(
        true,
      );
      const rsv = `0x${signature.r}${signature.s}${signature.v === '00' ? '1b' : '1c'}` as Hex;
      const verified = { ...TYPED_DATA, address: address as Hex, signature: rsv };
      expect(await verifyTypedData(verified as never)).toBe(true);
    });

    test('EIP-7702', async () => {
      const { address, publicKey } = signers.ethereum;
      const authorization = { address: `0x${'77'.repeat(20)}` as Hex, chainId: 1, nonce: 0 };
      const { r, s, v } = await sign(address, JSON.stringify(authorization), EIP7702, NO_OP);
      expect(isEcdsa({ r, s, v }, bytesOf(hashAuthorization(authorization).slice(2)), publicKey, 'secp256k1')).toBe(
        true,
      );
      const signed = { ...authorization, r: `0x${r}` as Hex, s: `0x${s}` as Hex, yParity: Number(v) };
      expect(await recoverAuthorizationAddress({ authorization: signed })).toBe(address);
    });

    test('need a secp256k1 key and no other hash', async () => {
      const typed = JSON.stringify(TYPED_DATA);
      const authorization = JSON.stringify({ address: `0x${'77'.repeat(20)}`, chainId: 1, nonce: 0 });
      const { ethereum, p256: onP256, solana } = signers;
      for (const [encoding, payload] of [
        [EIP712, typed],
        [EIP7702, authorization],
      ] as const) {
        for (const hash of [SHA256, KECCAK256, NOT_APPLICABLE]) {
          const answer = await submit(ethereum.address, payload, encoding, hash);
          expect(outcome(answer), hash).toEqual([400, 'INVALID_HASH_FUNCTION']);
        }
        for (const { address } of [onP256, solana]) {
          const answer = await submit(address, payload, encoding, NO_OP);
          expect(outcome(answer)).toEqual([400, 'INVALID_PAYLOAD_ENCODING']);
        }
        for (const bad of [
          '',
          '{}',
          'null',
          '[]',
          '0x00',
          payload.slice(1),
          payload.replace('"primaryType":"Mail"', '"primaryType":"Male"').replace('"0x77', '"0xzz'),
        ]) {
          expect((await submit(ethereum.address, bad, encoding, NO_OP)).status, bad).toBe(400);
        }
      }
    });
  });

  test.each([
    ['an odd digit', 'abc', HEX, SHA256, 'INVALID_PAYLOAD_ENCODING'],
    ['no hex', 'xy', HEX, SHA256, 'INVALID_PAYLOAD_ENCODING'],
    ['two prefixes', '0x0x00', HEX, SHA256, 'INVALID_PAYLOAD_ENCODING'],
    ['a digest of 31 bytes', '11'.repeat(31), HEX, NO_OP, 'INVALID_HASH_FUNCTION'],
    ['a digest of 33 bytes', '11'.repeat(33), HEX, NO_OP, 'INVALID_HASH_FUNCTION'],
    ['an empty digest', '', HEX, NO_OP, 'INVALID_HASH_FUNCTION'],
    ['an unknown encoding', '00', 'PAYLOAD_ENCODING_BASE64', SHA256, 'REQUEST_INVALID'],
    ['an unknown hash', '00', HEX, 'HASH_FUNCTION_SHA1', 'REQUEST_INVALID'],
  ])('%s is refused', async (_name, payload, encoding, hash, code) => {
    expect(outcome(await submit(signers.ethereum.address, payload, encoding, hash))).toEqual([400, code]);
  });

  describe('signWith', () => {
    const digest = sha256(Buffer.from('who'));
    const hex = Buffer.from(digest).toString('hex');

    test('names an account by address, id or public key', async () => {
      const { ethereum, uncompressed } = signers;
      const expected = await sign(ethereum.address, hex, HEX, NO_OP);
      for (const signWith of [
        ethereum.address.toLowerCase(),
        ethereum.walletAccountId,
        ethereum.walletAccountId.toUpperCase(),
      ]) {
        expect(await sign(signWith, hex, HEX, NO_OP), signWith).toEqual(expected);
      }
      expect(uncompressed.address).toMatch(/^04[0-9a-f]{128}$/);
      const signature = await sign(uncompressed.address, hex, HEX, NO_OP);
      expect(isEcdsa(signature, digest, uncompressed.publicKey, 'secp256k1')).toBe(true);
    });

    test('names a private key by id, plainly, or by an address, in the way of its format', async () => {
      const formats = ['BITCOIN_MAINNET_P2TR', 'ETHEREUM', 'SPARK_REGTEST'];
      const secret = randomBytes(32);
      const { privateKeyId, addresses } = await importKey(root, 'SECP256K1', secret.toString('hex'), formats);
      const publicKey = Buffer.from(secp256k1.getPublicKey(secret)).toString('hex');
      const [taproot, ethereum, spark] = addresses.map(({ address }) => address) as [string, string, string];
      for (const signWith of [privateKeyId, ethereum, ethereum.toLowerCase()]) {
        expect(isEcdsa(await sign(signWith, hex, HEX, NO_OP), digest, publicKey, 'secp256k1')).toBe(true);
      }
      expect(isSchnorr(await sign(spark, hex, HEX, NO_OP), digest, bytesOf(publicKey).subarray(1))).toBe(true);
      const [, ...program] = bech32m.decode(taproot as `${string}1${string}`).words;
      expect(isSchnorr(await sign(taproot, hex, HEX, NO_OP), digest, bech32m.fromWords(program))).toBe(true);
    });

    test('in its first version names a private key by id', async () => {
      const { privateKeyId } = await importKey(root, 'ED25519', '66'.repeat(32));
      const parameters = { privateKeyId, payload: 'ab', encoding: HEX, hashFunction: NOT_APPLICABLE };
      const type = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD';
      const { activity } = (await root.submit('sign_raw_payload', parameters, { type })).body;
      expect(activity.intent).toEqual({ signRawPayloadIntent: parameters });
      const publicKey = Buffer.from(ed25519.getPublicKey(bytesOf('66'.repeat(32)))).toString('hex');
      expect(isEd25519(activity.result.signRawPayloadResult, Uint8Array.of(0xab), publicKey)).toBe(true);
    });

    test('that names nothing here is not found', async () => {
      const stranger = await createSubOrganization(parent, 'Stranger');
      const { solana, cosmos, ethereum } = signers;
      for (const [signWith, client] of [
        ['', root],
        [randomUUID(), root],
        [solana.address.toLowerCase(), root],
        [cosmos.address.toUpperCase(), root],
        [ethereum.address.slice(2), root],
        [ethereum.address, stranger],
        [ethereum.walletAccountId, stranger],
      ] as const) {
        const answer = await submit(signWith, hex, HEX, NO_OP, client);
        expect(outcome(answer), signWith).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      const plain = await createUser(root, 'plain');
      expect(outcome(await submit(ethereum.address, hex, HEX, NO_OP, plain))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    });
  });

  describe('sign_raw_payloads', () => {
    const batch = (signWith: string, payloads: unknown, encoding = HEX, hashFunction = SHA256) =>
      root.submit('sign_raw_payloads', { signWith, payloads, encoding, hashFunction });

    test('answers in the order of up to 100 payloads', async () => {
      const { address, publicKey } = signers.ethereum;
      const payloads = Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(4, '0'));
      const { activity } = (await batch(address, payloads)).body;
      const { signatures } = activity.result.signRawPayloadsResult;
      expect(signatures).toHaveLength(100);
      for (const [index, payload] of payloads.entries()) {
        expect(isEcdsa(signatures[index], sha256(bytesOf(payload)), publicKey, 'secp256k1')).toBe(true);
      }
      const { solana } = signers;
      const eddsa = (await batch(solana.address, ['', '00', '0001'], HEX, NOT_APPLICABLE)).body.activity.result;
      const messages = [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(0, 1)];
      for (const [index, message] of messages.entries()) {
        expect(isEd25519(eddsa.signRawPayloadsResult.signatures[index], message, solana.publicKey)).toBe(true);
      }
    });

    test('signs all or none', async () => {
      const { address } = signers.ethereum;
      for (const [payloads, code] of [
        [[], 'REQUEST_INVALID'],
        [Array(101).fill('00'), 'REQUEST_INVALID'],
        [['00', 'zz'], 'INVALID_PAYLOAD_ENCODING'],
        [['00', 1], 'REQUEST_INVALID'],
        ['00', 'REQUEST_INVALID'],
        [['a'.repeat(700_000), 'b'.repeat(700_000)], 'REQUEST_INVALID'],
      ] as const) {
        expect(outcome(await batch(address, payloads))).toEqual([400, code]);
      }
      expect(outcome(await batch(address, ['a'.repeat(500_000), 'b'.repeat(500_000)]))).toEqual([200, COMPLETED]);
    });
  });

  test('with two who must agree, the signature comes with the second vote', async () => {
    const first = await createSubOrganization(parent, 'Two');
    const { walletId, addresses } = await newWallet(first);
    const { publicKey } = (await first.query('list_wallet_accounts', { walletId })).body.accounts[0];
    const second = await needTwo(first);
    const digest = sha256(Buffer.from('agreed'));
    const parameters = {
      signWith: addresses[0],
      payload: Buffer.from(digest).toString('hex'),
      encoding: HEX,
      hashFunction: NO_OP,
    };
    const answer = await first.submit('sign_raw_payload', parameters);
    expect(outcome(answer)).toEqual([200, PENDING]);
    expect(answer.body.activity.result).toEqual({});
    const done = (await approve(second, answer.body.activity.fingerprint)).body.activity;
    expect(done.status).toBe(COMPLETED);
    expect(isEcdsa(done.result.signRawPayloadResult, digest, publicKey, 'secp256k1')).toBe(true);
    // Nobody is asked about what cannot be signed.
    const wrong = await first.submit('sign_raw_payload', { ...parameters, hashFunction: NOT_APPLICABLE });
    expect(outcome(wrong)).toEqual([400, 'INVALID_HASH_FUNCTION']);
  });

  test('any payload, on every curve: what is signed verifies', async () => {
    const names: readonly AccountName[] = ['ethereum', 'p256', 'solana', 'spark'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.uint8Array({ maxLength: 300 }),
        fc.boolean(),
        fc.boolean(),
        async (name, bytes, prefixed, keccak) => {
          const { address, publicKey } = signers[name];
          const hash = name === 'solana' ? NOT_APPLICABLE : keccak ? KECCAK256 : SHA256;
          const payload = `${prefixed ? '0x' : ''}${Buffer.from(bytes).toString('hex')}`;
          const signature = await sign(address, payload, HEX, hash);
          const digest = keccak ? keccak_256(bytes) : sha256(bytes);
          if (name === 'solana') return isEd25519(signature, bytes, publicKey);
          if (name === 'spark') return isSchnorr(signature, digest, bytesOf(publicKey).subarray(1));
          return isEcdsa(signature, digest, publicKey, name === 'p256' ? 'p256' : 'secp256k1');
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe.each(databasesOf(import.meta.url))('a payload that is refused on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('touches no key', async () => {
    const { root, app } = service;
    const { addresses } = await newWallet(root, [ACCOUNTS.ethereum, ACCOUNTS.solana]);
    const [ethereum = '', solana = ''] = addresses;
    const used = vi.spyOn(app.keyring, 'sign');
    for (const [signWith, payload, encoding, hashFunction] of [
      [ethereum, 'zz', HEX, SHA256],
      [ethereum, '00', HEX, NO_OP],
      [ethereum, '00', HEX, NOT_APPLICABLE],
      [ethereum, '{}', EIP712, NO_OP],
      [ethereum, '{}', EIP7702, NO_OP],
      [solana, '00', HEX, SHA256],
      [solana, JSON.stringify(TYPED_DATA), EIP712, NO_OP],
      [randomUUID(), '00', HEX, SHA256],
    ] as const) {
      const one = await root.submit('sign_raw_payload', { signWith, payload, encoding, hashFunction });
      expect(one.status).toBeGreaterThanOrEqual(400);
      const payloads = [payload, payload];
      const many = await root.submit('sign_raw_payloads', { signWith, payloads, encoding, hashFunction });
      expect(many.status).toBe(one.status);
    }
    expect(used).not.toHaveBeenCalled();
    await root.run('sign_raw_payload', { signWith: ethereum, payload: '', encoding: HEX, hashFunction: SHA256 });
    expect(used).toHaveBeenCalledTimes(1);
  });
});
