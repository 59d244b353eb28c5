import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { parseTransaction } from 'viem';
import { expect } from 'vitest';
import { newPrivateKey, newWallet, PAYLOAD, TRANSACTION } from '../../../test/fixtures/keys.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { type Arranged, notFound, nothing, type World } from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../test/operations/tenant.ts';

/** r, s and v of a low-S signature over the digest. */
const aSignatureBy = (publicKey: string, digest: Uint8Array) =>
  expect.toSatisfy(
    ({ r, s, v }: Record<string, string>) =>
      /^0[01]$/.test(v ?? '') &&
      secp256k1.verify(Buffer.from(`${r}${s}`, 'hex'), digest, Buffer.from(publicKey, 'hex'), {
        prehash: false,
        lowS: true,
      }),
    'a signature of the payload',
  );

const PAYLOADS = ['11'.repeat(40), 'ff'] as const;

const digestOf = (payload: string) => keccak_256(Buffer.from(payload, 'hex'));

const asHex = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_KECCAK256' };

/** The transaction that the requests have, signed by the key. */
const aTransactionBy = (publicKey: string) =>
  expect.toSatisfy((signed: string) => {
    const { r, s, to } = parseTransaction(`0x${signed}`);
    if (r === undefined || s === undefined || to !== `0x${'11'.repeat(20)}`) return false;
    const signature = Buffer.from(`${r.slice(2).padStart(64, '0')}${s.slice(2).padStart(64, '0')}`, 'hex');
    const digest = keccak_256(Buffer.from(TRANSACTION.unsignedTransaction, 'hex'));
    return secp256k1.verify(signature, digest, Buffer.from(publicKey, 'hex'), { prehash: false });
  }, 'the transaction with a signature');

/** A signing operation in one version: what it signs with, and what it answers for that key. */
function signed(
  signer: 'signWith' | 'privateKeyId',
  rest: Record<string, unknown>,
  result: (publicKey: string) => unknown,
): (world: World) => Promise<Arranged> {
  return async ({ root }) => {
    if (signer === 'signWith') {
      const { address, publicKey } = await newWallet(root);
      return { parameters: { signWith: address, ...rest }, result: result(publicKey), holds: nothing, absent: nothing };
    }
    const { privateKeyId } = await newPrivateKey(root);
    const { publicKey } = (await root.query('get_private_key', { privateKeyId })).body.privateKey;
    return { parameters: { privateKeyId, ...rest }, result: result(publicKey), holds: nothing, absent: nothing };
  };
}

const signRaw = (signer: 'signWith' | 'privateKeyId') =>
  signed(signer, { ...asHex, payload: PAYLOADS[0] }, (publicKey) => aSignatureBy(publicKey, digestOf(PAYLOADS[0])));

const signTransaction = (signer: 'signWith' | 'privateKeyId') =>
  signed(signer, TRANSACTION, (publicKey) => ({
    signedTransaction: aTransactionBy(publicKey),
  }));

/** Another organization's account, by its address. */
const foreignSigner = (rest: Record<string, unknown>) => async (_world: World, other: World) =>
  notFound({ signWith: (await newWallet(other.root)).address, ...rest });

/** What the current version signs with, and what the older ones do. */
const signerOf = ({ ids }: Tenant) => ({ signWith: ids.address, privateKeyId: ids.privateKey });

export const cases: DomainCases = {
  sign_raw_payload: {
    activity: {
      intentKey: 'signRawPayloadIntentV2',
      resultKey: 'signRawPayloadResult',
      arrange: signRaw('signWith'),
      legacy: {
        ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: {
          intentKey: 'signRawPayloadIntent',
          resultKey: 'signRawPayloadResult',
          arrange: signRaw('privateKeyId'),
        },
      },
      foreign: foreignSigner({ ...asHex, payload: PAYLOADS[0] }),
    },
    hostile: byRoot((tenant) => ({ ...signerOf(tenant), ...PAYLOAD })),
  },
  sign_raw_payloads: {
    activity: {
      intentKey: 'signRawPayloadsIntent',
      resultKey: 'signRawPayloadsResult',
      arrange: signed('signWith', { ...asHex, payloads: PAYLOADS }, (publicKey) => ({
        signatures: PAYLOADS.map((payload) => aSignatureBy(publicKey, digestOf(payload))),
      })),
      foreign: foreignSigner({ ...asHex, payloads: PAYLOADS }),
    },
    hostile: byRoot((tenant) => {
      const { payload, ...rest } = PAYLOAD;
      return { ...signerOf(tenant), payloads: [payload, 'ff'], ...rest };
    }),
  },
  sign_transaction: {
    activity: {
      intentKey: 'signTransactionIntentV2',
      resultKey: 'signTransactionResult',
      arrange: signTransaction('signWith'),
      legacy: {
        ACTIVITY_TYPE_SIGN_TRANSACTION: {
          intentKey: 'signTransactionIntent',
          resultKey: 'signTransactionResult',
          arrange: signTransaction('privateKeyId'),
        },
      },
      foreign: foreignSigner(TRANSACTION),
    },
    hostile: byRoot((tenant) => ({ ...signerOf(tenant), ...TRANSACTION })),
  },
};
