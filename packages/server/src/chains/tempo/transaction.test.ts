import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { Address, Hex, P256, PublicKey, Secp256k1 } from 'ox';
import { AuthorizationTempo, KeyAuthorization, SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { decodeRlp, encodeRlp, type RlpItem } from '../ethereum/rlp.ts';
import type { RawSignature, SignerAccount } from '../signable.ts';
import {
  parseTempoTransaction,
  serializeTempoTransaction,
  signableTempo,
  type TempoTransaction,
} from './transaction.ts';

const KEY = `0x${'46'.repeat(32)}` as const;
const KEY_BYTES = Buffer.from(KEY.slice(2), 'hex');
const ADDRESS = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey: KEY }));
const SIGNER: SignerAccount = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(KEY_BYTES),
  address: ADDRESS,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const PAYER_KEY = `0x${'47'.repeat(32)}` as const;
const TO = '0x3535353535353535353535353535353535353535';
const TOKEN = '0x20c0000000000000000000000000000000000001';

function sign(digest: Uint8Array): RawSignature {
  const bytes = secp256k1.sign(digest, KEY_BYTES, { prehash: false, format: 'recovered' });
  return { v: bytes[0] === 0 ? 0 : 1, r: bytes.slice(1, 33), s: bytes.slice(33) };
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

const plain = TxEnvelopeTempo.from({
  chainId: 42431,
  calls: [
    { to: TO, value: 5n, data: '0xa9059cbb00' },
    { to: TO, data: '0x' },
  ],
  gas: 100_000n,
  maxFeePerGas: 20n,
  maxPriorityFeePerGas: 1n,
  nonce: 7n,
  nonceKey: 2n ** 255n,
  validAfter: 10,
  validBefore: 20,
  feeToken: TOKEN,
  accessList: [{ address: TO, storageKeys: [`0x${'ab'.repeat(32)}`] }],
});

const authorization = (() => {
  const value = AuthorizationTempo.from({ address: TO, chainId: 42431, nonce: 4n });
  const signature = Secp256k1.sign({ payload: AuthorizationTempo.getSignPayload(value), privateKey: KEY });
  return AuthorizationTempo.from(value, { signature: SignatureEnvelope.from(signature) });
})();

const keyAuthorization = (() => {
  const publicKey = P256.getPublicKey({ privateKey: PAYER_KEY });
  const value = KeyAuthorization.from({
    address: Address.fromPublicKey(PublicKey.from(publicKey)),
    chainId: 42431n,
    type: 'p256',
    expiry: 1_900_000_000,
    limits: [{ token: TOKEN, limit: 1000n }],
  });
  const signature = Secp256k1.sign({ payload: KeyAuthorization.getSignPayload(value), privateKey: KEY });
  return KeyAuthorization.from(value, { signature: SignatureEnvelope.from(signature) });
})();

const payerSignature = Secp256k1.sign({
  payload: TxEnvelopeTempo.getFeePayerSignPayload(plain, { sender: ADDRESS }),
  privateKey: PAYER_KEY,
});

const SAMPLES: Record<string, TxEnvelopeTempo.TxEnvelopeTempo> = {
  'the fewest fields': TxEnvelopeTempo.from({ chainId: 1, calls: [{ to: TO }] }),
  'every plain field': plain,
  'a contract creation': TxEnvelopeTempo.from({ chainId: 1, calls: [{ data: '0x6000' }, { to: TO }] }),
  'a fee payer who has yet to sign': { ...plain, feePayerSignature: null },
  'a fee payer who has signed': { ...plain, feePayerSignature: payerSignature },
  'an authorization list': { ...plain, authorizationList: [authorization] },
  'a key authorization': { ...plain, keyAuthorization },
  'everything at once': {
    ...plain,
    feePayerSignature: payerSignature,
    authorizationList: [authorization, authorization],
    keyAuthorization,
  },
};

describe('agreement with ox', () => {
  test.each(Object.entries(SAMPLES))('%s', (_name, sample) => {
    const unsigned = TxEnvelopeTempo.serialize(sample);
    expect(`0x${serializeTempoTransaction(parseTempoTransaction(unsigned))}`).toBe(unsigned);
    const signable = signableTempo(unsigned, SIGNER);
    expect(`0x${hexOf(signable.payloads[0]!)}`).toBe(TxEnvelopeTempo.getSignPayload(sample));
    const signature = sign(signable.payloads[0]!);
    const result = `0x${signable.attach([signature])}` as TxEnvelopeTempo.Serialized;
    const expected = TxEnvelopeTempo.serialize(sample, {
      signature: SignatureEnvelope.from({
        r: Hex.toBigInt(Hex.fromBytes(signature.r)),
        s: Hex.toBigInt(Hex.fromBytes(signature.s)),
        yParity: signature.v,
      }),
    });
    expect(result).toBe(expected);
    expect(TxEnvelopeTempo.deserialize(result).from?.toLowerCase()).toBe(ADDRESS.toLowerCase());
    expect(() => parseTempoTransaction(result)).toThrow('failed to parse transaction: it already contains a signature');
  });

  test('the parsed members', () => {
    const tx = parseTempoTransaction(TxEnvelopeTempo.serialize(SAMPLES['everything at once']!));
    expect(tx).toMatchObject({
      chainId: 42431n,
      maxFeePerGas: 20n,
      maxPriorityFeePerGas: 1n,
      gasLimit: 100_000n,
      nonce: 7n,
      nonceKey: 2n ** 255n,
      validAfter: 10n,
      validBefore: 20n,
      feeToken: TOKEN,
      feePayer: {
        kind: 'signed',
        r: payerSignature.r,
        s: payerSignature.s,
        yParity: BigInt(payerSignature.yParity),
      },
    });
    expect(tx.calls).toEqual([
      { to: TO, value: 5n, input: '0xa9059cbb00', selector: '0xa9059cbb' },
      { to: TO, value: 0n, input: '0x', selector: '' },
    ]);
    expect(tx.authorizationList[0]).toMatchObject({ address: TO, chainId: 42431n, nonce: 4n });
    expect(tx.keyAuthorization).toMatch(/^0xf8/);
    expect(parseTempoTransaction(TxEnvelopeTempo.serialize(SAMPLES['the fewest fields']!))).toMatchObject({
      validAfter: 0n,
      validBefore: 0n,
      feeToken: '',
      feePayer: { kind: 'sender' },
      keyAuthorization: '',
    });
  });

  test('the sender does not sign the fee token when somebody else pays', () => {
    const digest = (hex: string) => hexOf(signableTempo(hex, SIGNER).payloads[0]!);
    const signedByPayer = TxEnvelopeTempo.serialize(SAMPLES['a fee payer who has signed']!);
    const requested = TxEnvelopeTempo.serialize(SAMPLES['a fee payer who has yet to sign']!);
    expect(digest(signedByPayer)).toBe(digest(requested));
    const withToken = decodeRlp(bytes(requested.slice(4))) as RlpItem[];
    const hex = `76${hexOf(encodeRlp(withToken.with(10, bytes(TOKEN.slice(2)))))}`;
    expect(digest(hex)).toBe(digest(requested));
  });
});

describe('refusals', () => {
  const fields = decodeRlp(bytes(TxEnvelopeTempo.serialize(plain).slice(4))) as RlpItem[];
  const creation = [[bytes(''), bytes(''), bytes('')]];
  const list = [[bytes('01'), bytes(TO.slice(2)), bytes(''), bytes('aa')]];

  test.each<[string, RlpItem[], string]>([
    ['no fields', [], '0 fields'],
    ['twelve fields', fields.slice(0, 12), '12 fields'],
    ['sixteen fields', [...fields, [], bytes(''), bytes('')], '16 fields'],
    ['no calls', fields.with(4, []), 'calls is empty'],
    ['a call of two items', fields.with(4, [[bytes(''), bytes('')]]), 'call has 2 items'],
    ['chain id 0', fields.with(0, bytes('')), 'chainId is 0'],
    ['a fee beyond 128 bits', fields.with(2, bytes('11'.repeat(17))), 'maxFeePerGas is out of range'],
    ['a window that ends before it starts', fields.with(9, bytes('14')), 'validBefore'],
    ['zero as a byte', fields.with(8, bytes('00')), 'validBefore has leading zeros'],
    ['a fee token of 19 bytes', fields.with(10, bytes('11'.repeat(19))), 'feeToken has 19 bytes'],
    ['an address in place of the fee payer', fields.with(11, bytes(TO.slice(2))), 'the fee payer is neither'],
    ['another marker', fields.with(11, bytes('01')), 'the fee payer is neither'],
    ['a fee payer signature of two items', fields.with(11, [bytes(''), bytes('')]), 'has 2 items'],
    ['a fee payer parity of 27', fields.with(11, [bytes('1b'), bytes('01'), bytes('01')]), 'yParity is out of range'],
    ['an unsigned authorization', fields.with(12, [list[0]!.slice(0, 3)]), 'authorization has 3 items'],
    ['a creation with authorizations', fields.with(4, creation).with(12, list), 'contract creation together'],
    ['a key authorization of one item', [...fields, [[]]], 'keyAuthorization has 1 items'],
    ['a key authorization without signature', [...fields, [[], bytes('')]], 'keyAuthorization without signature'],
  ])('%s', (_name, items, reason) => {
    const parse = () => parseTempoTransaction(`0x76${hexOf(encodeRlp(items))}`);
    expect(parse).toThrow(ApiError);
    expect(parse).toThrow('failed to parse transaction');
    expect(parse).toThrow(reason);
  });

  test('another type, the fee payer form, and keys on other curves', () => {
    const body = hexOf(encodeRlp(fields));
    for (const type of ['', '02', '78', '77']) expect(() => parseTempoTransaction(`${type}${body}`)).toThrow(ApiError);
    for (const curve of ['CURVE_ED25519', 'CURVE_P256'] as const) {
      expect(() => signableTempo(`76${body}`, { ...SIGNER, curve })).toThrow('CURVE_SECP256K1');
    }
  });
});

/** Either refused as the caller's mistake, or understood in full: what was parsed serialises to what was given. */
function expectWholeOrNothing(input: Uint8Array): void {
  const hex = hexOf(input);
  let tx: TempoTransaction;
  try {
    tx = parseTempoTransaction(hex);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INVALID_TRANSACTION') return;
    throw error;
  }
  expect(serializeTempoTransaction(tx)).toBe(hex);
}

describe('any input', () => {
  const uint = (max: bigint) => fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max }));
  const hex = (min: number, max = min) =>
    fc.uint8Array({ minLength: min, maxLength: max }).map((value) => `0x${hexOf(value)}` as const);
  const call = fc.record({ to: hex(20), value: uint(2n ** 256n - 1n), data: hex(0, 80) });
  const envelopes = fc.record({
    chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    gas: uint(2n ** 64n - 1n),
    maxFeePerGas: uint(2n ** 128n - 1n),
    nonce: uint(2n ** 64n - 1n),
    nonceKey: uint(2n ** 256n - 1n),
    validBefore: fc.option(fc.integer({ min: 1000, max: 2 ** 40 }), { nil: undefined }),
    validAfter: fc.option(fc.integer({ min: 1, max: 999 }), { nil: undefined }),
    feeToken: fc.option(hex(20), { nil: undefined }),
    feePayerSignature: fc.constantFrom(undefined, null, payerSignature),
    authorizationList: fc.constantFrom([], [authorization]),
    keyAuthorization: fc.constantFrom(undefined, keyAuthorization),
    type: fc.constant('tempo' as const),
  });

  test('a transaction of ox survives, with the digest of ox', () => {
    fc.assert(
      fc.property(envelopes, (envelope) => {
        const unsigned = TxEnvelopeTempo.serialize(envelope);
        expect(`0x${serializeTempoTransaction(parseTempoTransaction(unsigned))}`).toBe(unsigned);
        const [payload] = signableTempo(unsigned, SIGNER).payloads;
        expect(`0x${hexOf(payload!)}`).toBe(TxEnvelopeTempo.getSignPayload(envelope));
      }),
      { numRuns: 100 },
    );
  });

  test('random bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom('', '76f8', '76cd'), fc.uint8Array({ maxLength: 100 }), (start, rest) => {
        expectWholeOrNothing(Buffer.concat([bytes(start), rest]));
      }),
      { numRuns: 1000 },
    );
  });

  test('valid bytes with changes', () => {
    const change = fc.record({ at: fc.nat(), insert: fc.boolean(), remove: fc.boolean(), byte: fc.nat({ max: 255 }) });
    fc.assert(
      fc.property(envelopes, fc.array(change, { minLength: 1, maxLength: 3 }), (envelope, changes) => {
        const input = [...bytes(TxEnvelopeTempo.serialize(envelope).slice(2))];
        for (const { at, insert, remove, byte } of changes) {
          input.splice(1 + (at % (input.length - 1)), remove ? 1 : 0, ...(insert || !remove ? [byte] : []));
        }
        expectWholeOrNothing(Uint8Array.from(input));
      }),
      { numRuns: 1000 },
    );
  });
});
