import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe } from 'vitest';
import { testFieldTable } from '../../../test/chain/field-table.ts';
import { encodeRlp } from '../ethereum/rlp.ts';
import { readTransaction } from '../transactions.ts';
import { TEMPO_FIELDS } from './field-table.ts';
import { serializeTempoTransaction, type TempoCall, type TempoTransaction } from './transaction.ts';

const A = `0x${'aa'.repeat(20)}`;
const B = `0x${'bb'.repeat(20)}`;

const account = {
  curve: 'CURVE_SECP256K1',
  publicKey: secp256k1.getPublicKey(new Uint8Array(32).fill(0x11), true),
  address: '',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;

const CALL: TempoCall = { to: A, value: 5n, input: '0x12345678', selector: '0x12345678' };

const BASE: TempoTransaction = {
  chainId: 4217n,
  maxPriorityFeePerGas: 1n,
  maxFeePerGas: 10n ** 12n,
  gasLimit: 100_000n,
  calls: [CALL],
  accessList: [],
  nonceKey: 0n,
  nonce: 1n,
  validBefore: 2_000n,
  validAfter: 1_000n,
  feeToken: A,
  feePayer: { kind: 'sender' },
  authorizationList: [],
  keyAuthorization: '',
};

const signer = { account, addresses: [account] };
const change = (some: Partial<TempoTransaction>) => () =>
  readTransaction('TRANSACTION_TYPE_TEMPO', serializeTempoTransaction({ ...BASE, ...some }), signer);
const changeCall = (some: Partial<TempoCall>) => change({ calls: [{ ...CALL, ...some }] });

const KEY_AUTHORIZATION = Buffer.from(encodeRlp([[Uint8Array.of(1)], Uint8Array.of(2)])).toString('hex');

describe('who sees the fields of a transaction of Tempo', () => {
  const unsigned = serializeTempoTransaction(BASE);
  testFieldTable(
    TEMPO_FIELDS.TEMPO,
    { type: 'TRANSACTION_TYPE_TEMPO', unsigned, signer },
    {
      chainId: change({ chainId: 42431n }),
      maxPriorityFeePerGas: change({ maxPriorityFeePerGas: 2n }),
      maxFeePerGas: change({ maxFeePerGas: 2n * 10n ** 12n }),
      gasLimit: change({ gasLimit: 200_000n }),
      'calls.to': changeCall({ to: B }),
      'calls.value': changeCall({ value: 6n }),
      'calls.input': changeCall({ input: '0x1234567800' }),
      'calls.selector': changeCall({ input: '0x87654321' }),
      accessList: change({ accessList: [{ address: B, storageKeys: [] }] }),
      nonceKey: change({ nonceKey: 1n }),
      nonce: change({ nonce: 2n }),
      validBefore: change({ validBefore: 3_000n }),
      validAfter: change({ validAfter: 1_500n }),
      feeToken: change({ feeToken: B }),
      feePayer: change({ feePayer: { kind: 'requested' } }),
      authorizationList: change({
        authorizationList: [{ chainId: 4217n, address: B, nonce: 0n, signature: `0x01${'00'.repeat(129)}` }],
      }),
      keyAuthorization: change({ keyAuthorization: `0x${KEY_AUTHORIZATION}` }),
    },
  );
});
