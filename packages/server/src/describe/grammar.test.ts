import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import {
  ADA,
  BASE_USDC,
  describeRequest,
  GRACE,
  interfaceOf,
  MEI,
  SPENDER,
  STRANGER,
  SUPPLIER,
  TOMAS,
  type Told,
  TREASURY,
  USDC,
  WETH,
} from '../../test/fixtures/sentences.ts';
import { type EthereumTransaction, serializeEthereumTransaction } from '../chains/ethereum/transaction.ts';
import { SYSTEM_PROGRAM } from '../chains/solana/transfers.ts';
import { paymentKey } from './names.ts';

// The sentences that the design of the console gives as examples, in its order (docs/guides/activities.md).

const word = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const transferOf = (to: string, amount: bigint): string => `0xa9059cbb${word(to)}${word(amount)}`;
const approveOf = (spender: string, amount: bigint): string => `0x095ea7b3${word(spender)}${word(amount)}`;
const UNLIMITED = 2n ** 256n - 1n;
const ETHER = 10n ** 18n;

const unsigned = (fields: Partial<EthereumTransaction>): string =>
  serializeEthereumTransaction({
    type: 'TYPE_2',
    chainId: 1n,
    nonce: 7n,
    to: SUPPLIER,
    value: 0n,
    data: '0x',
    selector: '',
    gas: 65_000n,
    gasPrice: 20n * 10n ** 9n,
    maxFeePerGas: 20n * 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
    maxFeePerBlobGas: 0n,
    accessList: [],
    blobVersionedHashes: [],
    authorizationList: [],
    ...fields,
  });

const sign = (fields: Partial<EthereumTransaction>, told?: Told) =>
  describeRequest(
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    { signWith: TREASURY, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: unsigned(fields) },
    told,
  );
const raw = (encoding: string, payload: string, hashFunction = 'HASH_FUNCTION_NO_OP') =>
  describeRequest('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { signWith: TREASURY, encoding, hashFunction, payload });

/** With plain spaces, as the table has them. */
const said = ({ text, risk }: { text: string; risk: string }) => [text.replaceAll('\u00a0', ' '), risk];

const NFT = '0x3333333333333333333333333333333333333333';
const SET_APPROVAL_FOR_ALL = {
  name: 'setApprovalForAll',
  inputs: [
    { name: 'operator', type: 'address' },
    { name: 'approved', type: 'bool' },
  ],
};

describe('transactions', () => {
  test('1: coins to somebody who was paid before', () => {
    const told = sign({ value: ETHER / 2n });
    expect(said(told)).toEqual(['Send 0.5 ETH from Treasury to Northwind GmbH on Ethereum.', 'ROUTINE']);
    expect(told).not.toHaveProperty('consequence');
    expect(told.sentence.filter(({ strong }) => strong).map(({ text }) => text)).toEqual([
      '0.5\u00a0ETH',
      'Treasury',
      'Northwind GmbH',
      'Ethereum',
    ]);
    expect(told.recipients).toEqual([
      expect.objectContaining({ name: 'Northwind GmbH', paidCount: 14, paidSince: '2026-03-04T00:00:00.000Z' }),
    ]);
    expect(told.fields).toContainEqual(expect.objectContaining({ label: 'To', note: 'paid 14 times since March' }));
    expect(told.bytes).toMatchObject({ algorithm: 'keccak-256', digest: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  });

  test('2: a token to somebody who was paid before', () => {
    const told = sign({ to: USDC, data: transferOf(SUPPLIER, 12_500_000_000n) });
    expect(said(told)).toEqual(['Send 12,500 USDC from Treasury to Northwind GmbH on Ethereum.', 'ROUTINE']);
    expect(told.fields).toContainEqual(
      expect.objectContaining({ label: 'Calls', note: expect.stringContaining('nothing left over') }),
    );
  });

  test('3: a first payment', () => {
    const told = sign({ to: USDC, data: transferOf(STRANGER, 12_500_000_000n) });
    expect(said(told)).toEqual([
      'Send 12,500 USDC from Treasury on Ethereum to 0x9BE4C1…708192, never paid from here.',
      'LOOK_CLOSELY',
    ]);
    expect(told.marks).toEqual([{ risk: 'LOOK_CLOSELY', text: 'first payment to this address' }]);
    expect(told.consequence).toMatch(/compared it/);
  });

  test('a look-alike of an address that was paid before', () => {
    const known = {
      payment: {
        [paymentKey('eip155:1', STRANGER)]: { count: 0, alike: { address: SUPPLIER, name: 'Northwind GmbH' } },
      },
    };
    const told = sign({ to: USDC, data: transferOf(STRANGER, 1n) }, { known });
    expect(told).toMatchObject({
      risk: 'DANGER',
      text: expect.stringContaining('looks like Northwind GmbH and is another'),
    });
    expect(told.recipients[0]?.lookAlike).toEqual({ address: SUPPLIER, name: 'Northwind GmbH' });
  });

  test('4 to 6: approvals', () => {
    expect(said(sign({ to: USDC, data: approveOf(SPENDER, 500_000_000n) }))).toEqual([
      'Let 0x111111…960582 spend up to 500 USDC of Treasury on Ethereum, at any time.',
      'LOOK_CLOSELY',
    ]);
    expect(said(sign({ to: USDC, data: approveOf(SPENDER, UNLIMITED) }))).toEqual([
      'Let 0x111111…960582 spend unlimited USDC of Treasury on Ethereum, until taken back.',
      'DANGER',
    ]);
    expect(said(sign({ to: USDC, data: approveOf(SPENDER, 0n) }))).toEqual([
      'Take back from 0x111111…960582 the right to spend USDC of Treasury on Ethereum.',
      'ROUTINE',
    ]);
  });

  test('7: a permit', () => {
    const permit = JSON.stringify({
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: USDC },
      message: {
        owner: TREASURY,
        spender: SPENDER,
        value: '5000000000',
        nonce: 0,
        deadline: Date.UTC(2027, 0, 1) / 1000,
      },
    });
    expect(said(raw('PAYLOAD_ENCODING_EIP712', permit))).toEqual([
      'Sign a permit: 0x111111…960582 may spend up to 5,000 USDC of Treasury on Ethereum until 1 January 2027; no chain shows it before use.',
      'DANGER',
    ]);
  });

  test('8: everything in a contract', () => {
    const data = `0xa22cb465${word('0x2222222222222222222222222222222222222222')}${word(1n)}`;
    const known = { contractInterface: interfaceOf(NFT, 'Art', [SET_APPROVAL_FOR_ALL]) };
    expect(said(sign({ to: NFT, data }, { known }))).toEqual([
      'Let 0x222222…222222 move everything that Treasury holds or will hold in Art on Ethereum.',
      'DANGER',
    ]);
  });

  test('9: a call with coins', () => {
    expect(said(sign({ to: WETH, value: 2n * ETHER, data: '0xd0e30db0' }))).toEqual([
      'Call deposit of WETH from Treasury on Ethereum and send 2 ETH with it.',
      'ROUTINE',
    ]);
    // Of a contract that only an upload explains, nobody here knows that it gives anything for the coins.
    const other = '0x4444444444444444444444444444444444444444';
    const known = { contractInterface: interfaceOf(other, 'WETH', [{ name: 'deposit', inputs: [] }]) };
    const told = sign({ to: other, value: 2n * ETHER, data: '0xd0e30db0' }, { known });
    expect(said(told)).toEqual([
      'Call deposit of WETH from Treasury on Ethereum and send 2 ETH with it to this contract, never paid from here.',
      'LOOK_CLOSELY',
    ]);
    expect(told.recipients).toMatchObject([{ address: other, paidCount: 0 }]);
  });

  test('10: data that nobody can read, or that is left over', () => {
    const contract = '0x8f21b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4';
    const blind = ['Sign a call of 0x8f21b3…A2b3C4 from Treasury on Ethereum that nobody here can read.', 'UNREADABLE'];
    expect(said(sign({ to: contract, data: '0xdeadbeef' })).map((text) => text.toLowerCase())).toEqual(
      blind.map((text) => text.toLowerCase()),
    );
    const known = { contractInterface: interfaceOf(WETH, 'WETH', [{ name: 'deposit', inputs: [] }]) };
    expect(sign({ to: WETH, data: '0xd0e30db000' }, { known })).toMatchObject({
      risk: 'UNREADABLE',
      marks: [{ text: expect.stringContaining('left over') }],
    });
    // A token that nobody vouches for is not believed to be one, but the guess is shown.
    const guessed = sign({ to: contract, data: transferOf(SUPPLIER, 1n) });
    expect(guessed.risk).toBe('UNREADABLE');
    expect(guessed.fields).toContainEqual(expect.objectContaining({ label: 'Looks like' }));
  });

  test('11: a contract creation', () => {
    expect(said(sign({ to: '', data: `0x${'60'.repeat(4_120)}` }))).toEqual([
      'Deploy a contract from Treasury on Ethereum: 4,120 bytes of code that nobody here can read.',
      'UNREADABLE',
    ]);
  });

  test('12: no chain id', () => {
    const told = sign({ type: 'LEGACY', chainId: 0n, value: ETHER });
    expect(said(told)).toEqual([
      'Send 1 ETH from Treasury to Northwind GmbH on every chain: the transaction names none.',
      'DANGER',
    ]);
  });

  test('13 and 14: raw payloads', () => {
    expect(said(raw('PAYLOAD_ENCODING_HEXADECIMAL', 'ab'.repeat(32)))).toEqual([
      'Sign 32 bytes with Treasury that can be any transaction or message.',
      'UNREADABLE',
    ]);
    expect(said(raw('PAYLOAD_ENCODING_TEXT_UTF8', 'hello', 'HASH_FUNCTION_SHA256'))).toEqual([
      'Sign the text "hello" with Treasury, without a prefix.',
      'LOOK_CLOSELY',
    ]);
    expect(raw('PAYLOAD_ENCODING_TEXT_UTF8', 'pay\u202e001\u200b\n', 'HASH_FUNCTION_SHA256').text).toBe(
      'Sign the text "pay[U+202E]001[U+200B][U+000A]" with Treasury, without a prefix.',
    );
    const message = '\u0019Ethereum Signed Message:\n71234567';
    expect(raw('PAYLOAD_ENCODING_TEXT_UTF8', message, 'HASH_FUNCTION_KECCAK256').text).toBe(
      'Sign the message "1234567" with Treasury, as a message of Ethereum.',
    );
  });

  test('15: an authorization', () => {
    const payload = JSON.stringify({ address: '0x5555555555555555555555555555555555555555', chainId: 0, nonce: 1 });
    expect(said(raw('PAYLOAD_ENCODING_EIP7702_AUTHORIZATION', payload))).toEqual([
      'Hand Treasury over to the code of 0x555555…555555 on every chain: it can then move everything in it.',
      'DANGER',
    ]);
  });

  test('16: calls together', () => {
    const aave = '0x2222222222222222222222222222222222222222';
    const supply = {
      name: 'supply',
      inputs: [{ name: 'amount', type: 'uint256' }],
    };
    const known = { contractInterface: interfaceOf(aave, 'Aave', [supply]) };
    const told = describeRequest(
      'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
      {
        from: TREASURY,
        caip2: 'eip155:8453',
        calls: [
          { to: BASE_USDC, data: approveOf(aave, 1_000_000_000n) },
          { to: aave, data: `0x35403023${word(1_000_000_000n)}` },
        ],
      },
      { known },
    );
    expect(said(told)).toEqual([
      'From Treasury on Base, together: 1. let Aave spend 1,000 USDC; 2. call supply of Aave.',
      'LOOK_CLOSELY',
    ]);
    expect(told.steps.map(({ risk }) => risk)).toEqual(['LOOK_CLOSELY', 'LOOK_CLOSELY']);
  });

  test('17: a Solana transfer with a look-up table', () => {
    const [payer, to, table] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    const data = Buffer.alloc(12);
    data.writeUInt32LE(2, 0);
    data.writeBigUInt64LE(20_000_000_000n, 4);
    const message = Buffer.concat([
      Buffer.from([0x80, 1, 0, 1, 3]),
      payer as Buffer,
      to as Buffer,
      base58.decode(SYSTEM_PROGRAM),
      Buffer.alloc(32, 9),
      Buffer.from([1, 2, 2, 0, 1, 12]),
      data,
      Buffer.from([1]),
      table as Buffer,
      Buffer.from([2, 0, 1, 1, 2]),
    ]);
    const [from, recipient] = [payer, to].map((key) => base58.encode(key as Buffer)) as [string, string];
    const known = {
      signer: { [from]: { name: 'Payouts', address: from, curve: 'CURVE_ED25519', publicKey: '', addressFormat: '' } },
      payment: { [paymentKey('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', recipient)]: { count: 2 } },
    } as const;
    const told = describeRequest(
      'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
      {
        unsignedTransaction: message.toString('hex'),
        caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        signWiths: [from],
      },
      { known },
    );
    const short = `${recipient.slice(0, 6)}…${recipient.slice(-6)}`;
    expect(said(told)).toEqual([
      `Send 20 SOL from Payouts to ${short} on Solana; 3 accounts come from a table and cannot be read.`,
      'LOOK_CLOSELY',
    ]);
  });
});

describe('who can do what', () => {
  const quorum = (threshold: number, userIds: string[]) =>
    describeRequest('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold, userIds });

  test('18: a lower root quorum', () => {
    const told = quorum(1, [ADA, GRACE, TOMAS]);
    expect(said(told)).toEqual([
      'Lower the root quorum from 2 of 3 to 1 of 3: any one of Ada, Grace, Tomás could do everything alone.',
      'DANGER',
    ]);
    expect(told.consequence).toBe('One person alone will be enough for everything. I want that.');
    expect(told.quorumChange).toMatchObject({ before: { threshold: 2 }, after: { threshold: 1 } });
  });

  test('19: a new root user', () => {
    expect(said(quorum(2, [ADA, GRACE, TOMAS, MEI]))).toEqual([
      'Make Mei a root user: 2 of 3 becomes 2 of 4, and Mei with any one other can do everything.',
      'DANGER',
    ]);
  });

  const limited = (most: bigint, more = ''): string =>
    `eth.tx.chain_id == 1 && eth.tx.to == '${USDC}' && eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] <= ${most}${more}`;
  const policy = {
    name: 'Ops pay suppliers',
    policyName: 'Ops pay suppliers',
    effect: 'EFFECT_ALLOW',
    condition: limited(1_000_000_000n, ` && eth.tx.contract_call_args['to'] in ['${SUPPLIER}']`),
    consensus: 'true',
    time: '',
    notes: '',
  };

  test('20: a wider policy', () => {
    const told = describeRequest(
      'ACTIVITY_TYPE_UPDATE_POLICY_V2',
      { policyId: 'p', policyCondition: limited(5_000_000_000n) },
      { known: { policy: { p: policy } } },
    );
    expect(said(told)).toEqual([
      'Widen policy Ops pay suppliers: the limit rises from 1,000 to 5,000 USDC, and recipients are no longer limited to Northwind GmbH.',
      'LOOK_CLOSELY',
    ]);
    expect(told.policyChange).toMatchObject({ direction: 'WIDEN', before: { condition: policy.condition } });
  });

  test('21: a policy without terms', () => {
    const told = describeRequest('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'tmp',
      effect: 'EFFECT_ALLOW',
      notes: '',
    });
    expect(said(told)).toEqual([
      'Allow anybody here all that a policy can allow: "tmp" has no condition and no consensus.',
      'DANGER',
    ]);
  });

  test('22: a denial that goes', () => {
    const denial = { ...policy, name: 'Bots leave credentials alone', effect: 'EFFECT_DENY' };
    const told = describeRequest(
      'ACTIVITY_TYPE_DELETE_POLICY',
      { policyId: 'd' },
      { known: { policy: { d: denial } } },
    );
    expect(said(told)).toEqual([
      'Delete the denial Bots leave credentials alone: what it stopped may be allowed.',
      'DANGER',
    ]);
  });

  test('23 and 24: wallets that leave', () => {
    expect(said(describeRequest('ACTIVITY_TYPE_EXPORT_WALLET', { walletId: 'wallet-1', targetPublicKey: '' }))).toEqual(
      [
        "Hand out the words of Treasury to the key of Grace's request: whoever opens them owns all 5 accounts for ever.",
        'DANGER',
      ],
    );
    expect(said(describeRequest('ACTIVITY_TYPE_DELETE_WALLETS', { walletIds: ['wallet-1'] }))).toEqual([
      'Delete Treasury for ever. It was never exported: what it holds is lost.',
      'DANGER',
    ]);
  });
});
