import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  BASE_USDC,
  describeRequest,
  interfaceOf,
  SPENDER,
  STRANGER,
  SUPPLIER,
  type Told,
  TREASURY,
  USDC,
  WETH,
} from '../../test/fixtures/sentences.ts';
import { type EthereumTransaction, serializeEthereumTransaction } from '../chains/ethereum/transaction.ts';
import { paymentKey } from './names.ts';

// What an uploader says, what a fee takes, and who may spend (protocol/activities 8.2 and 8.5).

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
const CONTRACT = '0x4444444444444444444444444444444444444444';
const word = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const call = (selector: string, ...words: readonly (bigint | string)[]): string => selector + words.map(word).join('');
const input = (name: string, type: string) => ({ name, type });
const TRANSFER = { name: 'transfer', inputs: [input('to', 'address'), input('amount', 'uint256')] };
const APPROVE = { name: 'approve', inputs: [input('spender', 'address'), input('amount', 'uint256')] };
const FOR_ALL = { name: 'setApprovalForAll', inputs: [input('operator', 'address'), input('approved', 'bool')] };

const sign = (fields: Partial<EthereumTransaction>, told?: Told) =>
  describeRequest(
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    {
      signWith: TREASURY,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeEthereumTransaction({
        type: 'TYPE_2',
        chainId: 1n,
        nonce: 7n,
        to: SUPPLIER,
        value: 0n,
        data: '0x',
        selector: '',
        gas: 65_000n,
        gasPrice: 20n * GWEI,
        maxFeePerGas: 20n * GWEI,
        maxPriorityFeePerGas: GWEI,
        maxFeePerBlobGas: 0n,
        accessList: [],
        blobVersionedHashes: [],
        authorizationList: [],
        ...fields,
      }),
    },
    told,
  );
const uploaded = (address: string, ...functions: readonly object[]): Told => ({
  known: { contractInterface: interfaceOf(address, 'Coin', functions) },
});
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

describe('what only an upload explains', () => {
  test('is never routine, whatever it is called', () => {
    const told = [
      sign({ to: CONTRACT, data: call('0xa9059cbb', SUPPLIER, 5n) }, uploaded(CONTRACT, TRANSFER)),
      sign({ to: CONTRACT, data: call('0x095ea7b3', SPENDER, 0n) }, uploaded(CONTRACT, APPROVE)),
      sign({ to: CONTRACT, data: call('0xa22cb465', SPENDER, 0n) }, uploaded(CONTRACT, FOR_ALL)),
      sign({ to: CONTRACT, data: '0x4e71d92d' }, uploaded(CONTRACT, { name: 'claim', inputs: [] })),
    ];
    for (const { risk, marks, consequence } of told) {
      expect(risk).toBe('LOOK_CLOSELY');
      expect(marks).toContainEqual({
        risk: 'LOOK_CLOSELY',
        text: 'read by an uploaded interface: whoever uploaded it vouches',
      });
      expect(consequence).toBeDefined();
    }
    expect(told[0]?.fields[0]?.note).toBe(
      'read by the interface Coin, uploaded for this address on every chain; nothing left over',
    );
  });

  test('does not make bytes readable that may be another call', () => {
    const execute = { name: 'execute', inputs: [input('calls', 'bytes[]')] };
    const told = uploaded(CONTRACT, execute);
    const data = (...calls: Hex[]) =>
      encodeFunctionData({ abi: parseAbi(['function execute(bytes[] calls)']), args: [calls] });
    expect(sign({ to: CONTRACT, data: data('0x4e71d92d') }, told)).toMatchObject({
      risk: 'UNREADABLE',
      text: 'Call execute of Coin from Treasury on Ethereum, with 4 bytes that nobody here can read.',
    });
    expect(sign({ to: CONTRACT, data: data('0x') }, told).risk).toBe('LOOK_CLOSELY');
  });

  test('counts for less than what the operator has configured', () => {
    const told = sign({ to: USDC, data: call('0xa9059cbb', SUPPLIER, 5n) }, uploaded(USDC, TRANSFER));
    expect(told.risk).toBe('ROUTINE');
    expect(told.fields[0]?.note).toContain('configured by the operator');
  });

  test('sends its coins to a recipient like any other', () => {
    const claim = { name: 'claim', inputs: [] };
    const paid = { payment: { [paymentKey('eip155:1', CONTRACT)]: { count: 2 } } };
    const alike = { payment: { [paymentKey('eip155:1', CONTRACT)]: { count: 0, alike: { address: SUPPLIER } } } };
    const fields = { to: CONTRACT, value: ETHER, data: '0x4e71d92d' };
    const before = sign(fields, { known: { ...uploaded(CONTRACT, claim).known, ...paid } });
    expect(plain(before.text)).toBe('Call claim of Coin from Treasury on Ethereum and send 1 ETH with it.');
    expect(before.recipients).toMatchObject([{ paidCount: 2 }]);
    const danger = sign(fields, { known: { ...uploaded(CONTRACT, claim).known, ...alike } });
    expect(danger).toMatchObject({ risk: 'DANGER', text: expect.stringContaining('and is another address') });
    // Unreadable calls too.
    const blind = sign({ ...fields, data: '0xdeadbeef' }, { known: alike });
    expect(blind.recipients).toMatchObject([{ lookAlike: { address: SUPPLIER } }]);
    expect(blind.marks).toContainEqual(expect.objectContaining({ risk: 'DANGER' }));
    expect(blind.risk).toBe('UNREADABLE');
  });

  test('a deposit is wrapping only where the operator has configured the wrapped coin', () => {
    const deposit = { name: 'deposit', inputs: [] };
    expect(sign({ to: WETH, value: ETHER, data: '0xd0e30db0' }).risk).toBe('ROUTINE');
    expect(sign({ to: USDC, value: ETHER, data: '0xd0e30db0' }, uploaded(USDC, deposit)).risk).toBe('LOOK_CLOSELY');
    // Not on another chain, and not with bytes behind it.
    expect(sign({ chainId: 8453n, to: WETH, value: ETHER, data: '0xd0e30db0' }).risk).toBe('UNREADABLE');
    expect(sign({ to: WETH, value: ETHER, data: '0xd0e30db000' }).risk).toBe('UNREADABLE');
  });
});

describe('who may spend', () => {
  test('stands among the fields and recipients, and is compared like a recipient', () => {
    const told = sign({ to: USDC, data: call('0x095ea7b3', SPENDER, 5n) });
    expect(told.fields).toContainEqual(expect.objectContaining({ label: 'Spender', kind: 'ADDRESS' }));
    expect(told.recipients.map(({ address }) => address.toLowerCase())).toEqual([SPENDER]);
    const known = { payment: { [paymentKey('eip155:1', SPENDER)]: { count: 0, alike: { address: SUPPLIER } } } };
    expect(sign({ to: USDC, data: call('0x095ea7b3', SPENDER, 5n) }, { known })).toMatchObject({
      risk: 'DANGER',
      text: expect.stringContaining('looks like'),
    });
    const all = sign({ to: CONTRACT, data: call('0xa22cb465', SPENDER, 1n) }, uploaded(CONTRACT, FOR_ALL));
    expect(all.recipients).toHaveLength(1);
    expect(all.text).toContain(' on Ethereum');
    const back = sign({ to: CONTRACT, data: call('0xa22cb465', SPENDER, 0n) }, uploaded(CONTRACT, FOR_ALL));
    expect(back.text).toMatch(/^Take back from 0x\S+ the right to move what Treasury holds in Coin on Ethereum\.$/);
    expect(back.fields).toContainEqual(expect.objectContaining({ label: 'Spender' }));
  });

  test('an amount that is nearly the largest is unlimited too', () => {
    const approve = (amount: bigint) => sign({ to: USDC, data: call('0x095ea7b3', SPENDER, amount) });
    for (const amount of [2n ** 256n - 1n, 2n ** 256n - 2n, 2n ** 255n, 2n ** 160n - 1n, 2n ** 160n - 5n, 2n ** 159n]) {
      expect(approve(amount)).toMatchObject({ risk: 'DANGER', text: expect.stringContaining('unlimited USDC') });
    }
    for (const amount of [2n ** 96n - 1n, 2n ** 95n, 2n ** 128n]) expect(approve(amount).risk).toBe('DANGER');
    expect(approve(2n ** 64n).risk).toBe('LOOK_CLOSELY');
  });
});

test('typed data that sounds like a right is dangerous, even if nobody knows its form', () => {
  const typed = (primaryType: string, fields: readonly { name: string; type: string }[], message: object) =>
    describeRequest('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
      signWith: TREASURY,
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
      payload: JSON.stringify({
        types: { [primaryType]: fields },
        primaryType,
        domain: { name: 'Art', chainId: 1, verifyingContract: CONTRACT },
        message,
      }),
    });
  const item = [input('spender', 'address'), input('tokenId', 'uint256')];
  expect(typed('Permit', item, { spender: SPENDER, tokenId: 7 }).risk).toBe('DANGER');
  expect(typed('Note', item, { spender: SPENDER, tokenId: 7 }).risk).toBe('DANGER');
  expect(typed('Order', [input('price', 'uint256')], { price: 1 }).risk).toBe('DANGER');
  expect(typed('Mail', [input('text', 'string')], { text: 'hello' }).risk).toBe('LOOK_CLOSELY');
});

describe('a payment on another chain', () => {
  test('does not make the address one that was paid before', () => {
    const data = call('0xa9059cbb', SUPPLIER, 5_000_000n);
    expect(sign({ to: USDC, data }).risk).toBe('ROUTINE');
    const base = sign({ chainId: 8453n, to: BASE_USDC, data });
    expect(base).toMatchObject({ risk: 'LOOK_CLOSELY', recipients: [{ paidCount: 0 }] });
    const known = {
      payment: {
        [paymentKey('eip155:8453', STRANGER)]: { count: 9 },
        [paymentKey('eip155:1', STRANGER)]: { count: 0, alike: { address: SUPPLIER } },
      },
    };
    expect(sign({ to: STRANGER, value: 1n }, { known }).risk).toBe('DANGER');
  });
});

describe('fees', () => {
  const fee = (told: ReturnType<typeof sign>) =>
    told.fields
      .find(({ label }) => label.startsWith('Fee'))
      ?.value.map(({ text }) => plain(text))
      .join('');

  test('are told, and marked from where on they are not usual', () => {
    const usual = sign({ value: ETHER });
    expect([usual.risk, fee(usual)]).toEqual(['ROUTINE', '0.0013 ETH']);
    const high = sign({ value: ETHER, maxFeePerGas: 1_000n * GWEI });
    expect([high.risk, fee(high)]).toEqual(['LOOK_CLOSELY', '0.065 ETH']);
    expect(plain(high.text)).toContain('for a fee of up to 0.065 ETH');
    expect(high.marks).toEqual([{ risk: 'LOOK_CLOSELY', text: 'a high fee' }]);
    // More than the coins sent: those who build blocks get it, whoever is paid.
    const extreme = sign({ value: ETHER / 100n, maxFeePerGas: 10_000n * GWEI });
    expect([extreme.risk, fee(extreme)]).toEqual(['DANGER', '0.65 ETH']);
    // Neither does a large payment, perhaps to oneself, excuse any fee.
    const beside = sign({ value: 100n * ETHER, maxFeePerGas: 100_000n * GWEI });
    expect([beside.risk, fee(beside)]).toEqual(['DANGER', '6.5 ETH']);
    const token = sign({
      to: USDC,
      data: call('0xa9059cbb', SUPPLIER, 1n),
      gas: 30_000_000n,
      maxFeePerGas: 100n * GWEI,
    });
    expect(token.risk).toBe('DANGER');
    const legacy = sign({
      type: 'LEGACY',
      value: ETHER / 100n,
      gasPrice: 10_000n * GWEI,
      maxFeePerGas: 10_000n * GWEI,
    });
    expect(legacy.risk).toBe('DANGER');
  });

  const send = (terms: object, value = '1') =>
    describeRequest('ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', {
      from: TREASURY,
      caip2: 'eip155:1',
      calls: [{ to: SUPPLIER, value }],
      ...terms,
    });

  test('of a send are what the caller fixed, all of it among the fields', () => {
    const told = send({
      nonce: '12',
      gasLimit: '65000',
      maxFeePerGas: String(20n * GWEI),
      maxPriorityFeePerGas: String(GWEI),
      deadline: '1800000000',
    });
    expect([told.risk, fee(told)]).toEqual(['ROUTINE', '0.0013 ETH']);
    const fields = told.fields.map(({ label, value }) => `${label}: ${plain(value.map(({ text }) => text).join(''))}`);
    expect(fields).toEqual(
      expect.arrayContaining([
        'Nonce: 12',
        'Gas limit: 65,000',
        'Price of gas, at most: 20 gwei',
        'Tip, at most: 1 gwei',
        'Not after: 2027-01-15T08:00:00.000Z',
      ]),
    );
    expect(send({ gasLimit: '30000000', maxFeePerGas: String(1_000n * GWEI) }).risk).toBe('DANGER');
    const open = send({ maxFeePerGas: String(20n * GWEI) });
    expect([open.risk, fee(open)]).toEqual(['LOOK_CLOSELY', 'not limited by the request']);
    expect([send({}).risk, fee(send({}))]).toEqual(['ROUTINE', 'what nodes of the chain ask for']);
    expect(fee(send({ sponsor: true }))).toBe('paid by the operator');
  });
});
