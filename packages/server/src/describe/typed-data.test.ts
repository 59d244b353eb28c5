import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { describeRequest, SPENDER, STRANGER, SUPPLIER, TREASURY, USDC } from '../../test/fixtures/sentences.ts';

// Typed data that moves or gives something, whatever its types are called (protocol/activities 8.2).

interface Typed {
  readonly types: Readonly<Record<string, string>>;
  readonly domain?: object;
  readonly message: object;
}

/** The first type is the primary one; its members are written as in Solidity. */
const payloadOf = ({ types, domain = { name: 'Art', chainId: 1, verifyingContract: STRANGER }, message }: Typed) =>
  JSON.stringify({
    types: Object.fromEntries(
      Object.entries(types).map(([name, members]) => [
        name,
        members.split(', ').map((member) => {
          const [type, field] = member.split(' ');
          return { name: field, type };
        }),
      ]),
    ),
    primaryType: Object.keys(types)[0],
    domain,
    message,
  });
const TERMS = { signWith: TREASURY, encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' };
const sign = (typed: Typed) =>
  describeRequest('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { ...TERMS, payload: payloadOf(typed) });
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

describe('a batch of CustosBatch', () => {
  const BATCH = {
    BatchExecution: 'address carrier, uint256 nonce, uint256 deadline, Call[] calls',
    Call: 'address to, uint256 value, bytes data',
  };
  const ABI = parseAbi(['struct Call { address to; uint256 value; bytes data; }', 'function run(Call[] calls)']);
  const domain = { name: 'Custos Batch', version: '1', chainId: 1, verifyingContract: TREASURY };
  const pay = { to: SUPPLIER, value: String(10n ** 18n), data: '0x' };
  const message = (...calls: readonly object[]) => ({ carrier: SPENDER, nonce: 4, deadline: 1_800_000_000, calls });

  test('is told by its calls, with who may run it and until when', () => {
    const one = sign({ types: BATCH, domain, message: message(pay) });
    expect(one.risk).toBe('DANGER');
    expect(plain(one.text)).toMatch(
      /^Send 1 ETH from Treasury to Northwind GmbH on Ethereum\. By signature: 0x111111…\w{6} may run it until 15 January 2027; no chain shows it before use\.$/,
    );
    const approve = `0x095ea7b3${SPENDER.slice(2).padStart(64, '0')}${'f'.repeat(64)}`;
    const two = sign({ types: BATCH, domain, message: message(pay, { to: USDC, value: 0, data: approve }) });
    expect(two.steps.map(({ risk }) => risk)).toEqual(['ROUTINE', 'DANGER']);
    expect(two.recipients.map(({ address }) => address.toLowerCase())).toEqual([SUPPLIER, SPENDER]);
    expect(two.fields.map(({ label }) => label)).toEqual(
      expect.arrayContaining(['carrier', 'nonce', 'deadline', '1. To', '2. Spender']),
    );
    const blind = sign({ types: BATCH, domain, message: message(pay, { to: STRANGER, value: 0, data: '0xdeadbeef' }) });
    expect(blind.risk).toBe('UNREADABLE');
    expect(blind.consequence).toContain('Nobody here can say what this call does');
  });

  test('that is none of the account, or of another form, is typed data like any other', () => {
    const other = sign({ types: BATCH, domain: { ...domain, verifyingContract: STRANGER }, message: message(pay) });
    expect(other).toMatchObject({ risk: 'DANGER', text: expect.stringMatching(/^Sign the typed data BatchExecution/) });
    const types = { ...BATCH, Call: 'address to, bytes data, uint256 value' };
    expect(sign({ types, domain, message: message(pay) }).text).toMatch(/^Sign the typed data/);
  });

  test('has its calls counted over all payloads of a request', () => {
    const data = encodeFunctionData({
      abi: ABI,
      args: [new Array(600).fill({ to: SUPPLIER as Hex, value: 1n, data: '0x' })],
    });
    const payload = payloadOf({ types: BATCH, domain, message: message({ to: TREASURY, value: 0, data }) });
    const told = describeRequest('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', { ...TERMS, payloads: [payload, payload] });
    const [first, second] = told.steps.map(({ sentence }) => sentence.map(({ text }) => text).join(''));
    expect(first).toMatch(/^From Treasury/);
    expect(second).toMatch(/^Sign the typed data BatchExecution/);
    expect(told.risk).toBe('UNREADABLE');
  });
});

describe('typed data of an unknown form', () => {
  test('that carries bytes cannot be read', () => {
    const safe = {
      types: {
        SafeTx: 'address to, uint256 value, bytes data, uint8 operation, address gasToken, uint256 nonce',
      },
      message: { to: STRANGER, value: 0, data: '0x8d80ff0a', operation: 1, gasToken: STRANGER, nonce: 1 },
    };
    expect(sign(safe)).toMatchObject({
      risk: 'UNREADABLE',
      text: expect.stringContaining('with 4 bytes that nobody here can read'),
    });
    expect(sign({ ...safe, message: { ...safe.message, data: '0x' } }).risk).toBe('DANGER');
    const meta = {
      types: { MetaTransaction: 'uint256 nonce, address from, bytes functionSignature' },
      message: { nonce: 1, from: TREASURY, functionSignature: '0x095ea7b3' },
    };
    expect(sign(meta).risk).toBe('UNREADABLE');
    const deep = {
      types: { Mail: 'Part[] parts', Part: 'bytes[] body' },
      message: { parts: [{ body: ['0x', '0x00'] }] },
    };
    expect(sign(deep).risk).toBe('UNREADABLE');
    const hash = { types: { Mail: 'bytes32 digest' }, message: { digest: `0x${'11'.repeat(32)}` } };
    expect(sign(hash).risk).toBe('LOOK_CLOSELY');
  });

  test('that sounds like a right or a payment at any depth is dangerous', () => {
    const cases: readonly Typed[] = [
      {
        types: { Login: 'Inner inner', Inner: 'address spender, bool allowed' },
        message: { inner: { spender: SPENDER, allowed: true } },
      },
      { types: { Login: 'Inner[] inner', Inner: 'bool isAllowed' }, message: { inner: [{ isAllowed: true }] } },
      {
        types: { Login: 'Permission inner', Permission: 'Permit p', Permit: 'uint256 x' },
        message: { inner: { p: { x: 1 } } },
      },
      { types: { Note: 'address to, uint256 amount' }, message: { to: STRANGER, amount: 1 } },
      { types: { Note: 'address newOperator' }, message: { newOperator: STRANGER } },
    ];
    for (const typed of cases) expect(sign(typed).risk).toBe('DANGER');
    const mail = {
      types: { Mail: 'Person from, Person to, string contents', Person: 'string name, address wallet' },
      message: { from: { name: 'A', wallet: TREASURY }, to: { name: 'B', wallet: STRANGER }, contents: 'Hello' },
    };
    expect(sign(mail).risk).toBe('LOOK_CLOSELY');
  });

  test('of more fields than are shown cannot be read', () => {
    const numbers = (length: number): Typed => ({
      types: { Numbers: 'uint256[] numbers' },
      message: { numbers: new Array(length).fill(1) },
    });
    expect(sign(numbers(150)).risk).toBe('LOOK_CLOSELY');
    expect(sign(numbers(250)).risk).toBe('UNREADABLE');
  });
});

describe('a permit', () => {
  const types = { Permit: 'address owner, address spender, uint256 value, uint256 nonce, uint256 deadline' };
  const message = { owner: TREASURY, spender: SPENDER, value: 5_000_000, nonce: 0, deadline: 1_800_000_000 };

  test('that names no chain is good on every one', () => {
    const told = sign({ types, domain: { name: 'USD Coin', verifyingContract: USDC }, message });
    expect(told.text).toContain(' of Treasury on every chain until 15 January 2027');
    expect(told.marks).toContainEqual({ risk: 'DANGER', text: 'good on every chain: it names none' });
  });

  test('is of whom it names as the owner', () => {
    const domain = { name: 'USD Coin', chainId: 1, verifyingContract: USDC };
    const own = sign({ types, domain, message });
    expect(plain(own.text)).toContain('may spend up to 5 USDC of Treasury on Ethereum');
    const others = sign({ types, domain, message: { ...message, owner: STRANGER } });
    expect(plain(others.text)).toMatch(
      /up to 5 USDC of 0x9[bB]\S+ on Ethereum until 15 January 2027, signed with Treasury;/,
    );
    expect(others.marks).toContainEqual({
      risk: 'DANGER',
      text: 'names another owner than the account that signs',
    });
  });
  test('with bytes beside what it permits cannot be read', () => {
    const witness = { Permit: `${types.Permit}, Witness witness`, Witness: 'bytes data' };
    const domain = { name: 'USD Coin', chainId: 1, verifyingContract: USDC };
    const told = (data: string) => sign({ types: witness, domain, message: { ...message, witness: { data } } });
    expect(told('0x01').risk).toBe('UNREADABLE');
    expect(told('0x').risk).toBe('DANGER');
  });
});

test('fields of several payloads are all told, or the request cannot be read', () => {
  const payload = payloadOf({
    types: { Numbers: 'uint256[] numbers' },
    message: { numbers: new Array(40).fill(1) },
  });
  const told = (count: number) =>
    describeRequest('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', { ...TERMS, payloads: new Array(count).fill(payload) });
  expect(told(3).risk).toBe('LOOK_CLOSELY');
  expect(told(3).fields.filter(({ label }) => label.includes('numbers'))).toHaveLength(120);
  expect(told(8).risk).toBe('UNREADABLE');
});
