import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filledKey as key, system, type TestInstruction, u32, u64, wireOf } from '../../test/chain/solana-transfer.ts';
import { CHAINS, describeRequest, type Told } from '../../test/fixtures/sentences.ts';
import { readContractInterface } from '../../test/fixtures/solana-interface.ts';
import { associatedAccount } from '../chains/solana/associated.ts';
import { SYSTEM_PROGRAM as SYSTEM, TOKEN_PROGRAM as TOKEN, TOKEN_2022_PROGRAM } from '../chains/solana/transfers.ts';
import { interfaceKey, paymentKey } from './names.ts';

// Nothing may leave an account, and no right may be given, without the words for it (protocol/activities 8.4).

const CHAIN = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const [PAYOUTS, TREASURY, FRIEND, STRANGER, ACCOUNT, MINT, PROGRAM, OTHER] = [5, 6, 7, 8, 9, 10, 11, 12].map(key) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const BUDGET = 'ComputeBudget111111111111111111111111111111';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const STAKE = 'Stake11111111111111111111111111111111111111';
const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';

const bytes = (address: string): number[] => [...base58.decode(address)];
const seed = (text: string): number[] => [...u64(BigInt(text.length)), ...Buffer.from(text)];
const token = (accounts: readonly string[], data: readonly number[], program = TOKEN): TestInstruction => ({
  program,
  accounts,
  data,
});
const SOL = 10n ** 9n;
/** The account in which Payouts holds USDC, by its address. */
const OWN_USDC = associatedAccount(PAYOUTS, MINT, TOKEN) as string;

const signer = (name: string, address: string) =>
  ({ name, address, curve: 'CURVE_ED25519', publicKey: '', addressFormat: 'ADDRESS_FORMAT_SOLANA' }) as const;
const settings = CHAINS.get('eip155:1');
const chains = new Map([
  [
    CHAIN,
    {
      ...(settings as NonNullable<typeof settings>),
      caip2: CHAIN,
      namespace: 'solana' as const,
      reference: CHAIN.slice('solana:'.length),
      assets: [{ caip19: `${CHAIN}/token:${MINT}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
    },
  ],
]);
const known: Told['known'] = {
  signer: { [PAYOUTS]: signer('Payouts', PAYOUTS), [TREASURY]: signer('Treasury', TREASURY) },
  payment: { [paymentKey(CHAIN, FRIEND)]: { count: 3 } },
};

const send = (signWiths: readonly string[], instructions: readonly TestInstruction[], more: Told['known'] = {}) =>
  describeRequest(
    'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
    { unsignedTransaction: wireOf({ signers: signWiths, instructions }), caip2: CHAIN, signWiths },
    { chains, known: { ...known, ...more } },
  );
const one = (...instructions: readonly TestInstruction[]) => send([PAYOUTS], instructions);
const short = (address: string): string => `${address.slice(0, 6)}…${address.slice(-6)}`;
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');
const said = ({ text, risk }: { text: string; risk: string }) => [plain(text), risk];

describe('single instructions', () => {
  test('payments are routine only to somebody who was paid before', () => {
    expect(said(one(system(2, [PAYOUTS, FRIEND], u64(2n * SOL))))).toEqual([
      `Send 2 SOL from Payouts to ${short(FRIEND)} on Solana.`,
      'ROUTINE',
    ]);
    expect(said(one(token([OWN_USDC, MINT, FRIEND, PAYOUTS], [12, ...u64(5_000_000n), 6])))).toEqual([
      `Send 5 USDC from Payouts to ${short(FRIEND)} on Solana.`,
      'ROUTINE',
    ]);
    expect(said(one(system(2, [PAYOUTS, STRANGER], u64(SOL))))).toEqual([
      `Send 1 SOL from Payouts on Solana to ${short(STRANGER)}, never paid from here.`,
      'LOOK_CLOSELY',
    ]);
  });

  test('tokens are told as those of who lets them go, and asked about where that may be a delegate', () => {
    const data = [12, ...u64(5_000_000n), 6];
    // An own key among the accounts behind the authority is a member of a multisig at most.
    const others = one(token([ACCOUNT, MINT, FRIEND, STRANGER, PAYOUTS], data));
    expect(said(others)).toEqual([
      `Send 5 USDC from ${short(STRANGER)} to ${short(FRIEND)} on Solana; Payouts signs it too.`,
      'LOOK_CLOSELY',
    ]);
    expect(others.marks).toEqual([{ risk: 'LOOK_CLOSELY', text: 'moves what another account holds' }]);
    const delegate = one(token([ACCOUNT, MINT, FRIEND, PAYOUTS], data));
    expect(said(delegate)).toEqual([
      `From Payouts on Solana: send 5 USDC to ${short(FRIEND)} out of token account ${short(ACCOUNT)}.`,
      'LOOK_CLOSELY',
    ]);
    expect(delegate.fields).toContainEqual(
      expect.objectContaining({ label: 'Out of token account', note: 'whose it is, only the chain knows' }),
    );
    const issued = one(token([MINT, FRIEND, STRANGER, PAYOUTS], [7, ...u64(1n)]));
    expect(issued.marks).toContainEqual({ risk: 'LOOK_CLOSELY', text: 'moves what another account holds' });
    // Of the other program it is another account.
    expect(one(token([OWN_USDC, MINT, FRIEND, PAYOUTS], data, TOKEN_2022_PROGRAM)).risk).toBe('LOOK_CLOSELY');
  });

  test('an approval of more than there is of a token is dangerous', () => {
    const approve = (value: bigint) => one(token([OWN_USDC, MINT, STRANGER, PAYOUTS], [13, ...u64(value), 6]));
    expect(approve(2n ** 56n - 1n).risk).toBe('LOOK_CLOSELY');
    expect(approve(2n ** 56n)).toMatchObject({
      risk: 'DANGER',
      marks: [{ text: 'so much that it is as good as unlimited' }],
    });
    expect(approve(2n ** 62n).risk).toBe('DANGER');
    expect(approve(2n ** 63n)).toMatchObject({ risk: 'DANGER', marks: [{ text: 'unlimited spending' }] });
  });

  test('a token that is not named, or that nobody has configured, asks for a look', () => {
    const unnamed = one(token([ACCOUNT, FRIEND, PAYOUTS], [3, ...u64(7n)]));
    expect(unnamed).toMatchObject({ risk: 'LOOK_CLOSELY', text: expect.stringContaining('does not name') });
    const held = associatedAccount(PAYOUTS, OTHER, TOKEN) as string;
    const other = one(token([held, OTHER, FRIEND, PAYOUTS], [12, ...u64(7n), 6]));
    expect(other).toMatchObject({
      risk: 'LOOK_CLOSELY',
      marks: [{ text: 'a token that the operator has not configured' }],
    });
  });

  test('coins for a new account are a payment to it', () => {
    const told = one(system(0, [PAYOUTS, STRANGER], [...u64(3n * SOL), ...u64(0n), ...bytes(PROGRAM)]));
    expect(said(told)).toEqual([
      `From Payouts on Solana: pay 3 SOL to ${short(STRANGER)}, a new account, which ${short(PROGRAM)} then controls, never paid from here.`,
      'LOOK_CLOSELY',
    ]);
    expect(told.recipients).toMatchObject([{ address: STRANGER, paidCount: 0 }]);
    const seeded = one(
      system(
        3,
        [PAYOUTS, STRANGER],
        [...bytes(PAYOUTS), ...seed('x'), ...u64(4n * SOL), ...u64(0n), ...bytes(PROGRAM)],
      ),
    );
    expect(plain(seeded.text)).toContain(`pay 4 SOL to ${short(STRANGER)}`);
    expect(seeded.risk).toBe('LOOK_CLOSELY');
    // An own key that becomes the account of a program is lost to it.
    const own = send(
      [PAYOUTS, TREASURY],
      [system(0, [PAYOUTS, TREASURY], [...u64(SOL), ...u64(0n), ...bytes(PROGRAM)])],
    );
    expect(own.risk).toBe('DANGER');
  });

  test('accounts that are handed over are dangerous', () => {
    expect(said(one(system(1, [PAYOUTS], bytes(PROGRAM))))).toEqual([
      `From Payouts on Solana: hand account Payouts over to the program ${short(PROGRAM)}: it can then move everything in it.`,
      'DANGER',
    ]);
    expect(one(system(8, [PAYOUTS], u64(80n))).risk).toBe('DANGER');
    expect(said(one(system(7, [ACCOUNT, PAYOUTS], bytes(STRANGER))))).toEqual([
      `From Payouts on Solana: hand the right to withdraw from nonce account ${short(ACCOUNT)} over to ${short(STRANGER)}.`,
      'DANGER',
    ]);
    expect(said(one(token([ACCOUNT, PAYOUTS], [6, 2, 1, ...bytes(STRANGER)])))).toEqual([
      `From Payouts on Solana: hand the right to move everything in ${short(ACCOUNT)} over to ${short(STRANGER)}.`,
      'DANGER',
    ]);
    expect(said(one(token([MINT, PAYOUTS], [6, 0, 0])))[0]).toContain('give up for ever the right to issue tokens of');
    expect(
      one({ program: STAKE, accounts: [ACCOUNT, OTHER, PAYOUTS], data: [...u32(1), ...bytes(STRANGER), ...u32(1)] }),
    ).toMatchObject({ risk: 'DANGER', text: expect.stringContaining(short(STRANGER)) });
    expect(one({ program: LOADER, accounts: [ACCOUNT, PAYOUTS, STRANGER], data: u32(4) })).toMatchObject({
      risk: 'DANGER',
      text: expect.stringContaining(short(STRANGER)),
    });
  });

  test('a stake account says who can withdraw', () => {
    const make = (withdrawer: string, until = 0n) =>
      one({
        program: STAKE,
        accounts: [ACCOUNT, OTHER],
        data: [...u32(0), ...bytes(PAYOUTS), ...bytes(withdrawer), ...u64(until), ...u64(0n), ...bytes(STRANGER)],
      });
    expect(make(PAYOUTS).risk).toBe('LOOK_CLOSELY');
    expect(make(FRIEND)).toMatchObject({ risk: 'DANGER', text: expect.stringContaining(short(FRIEND)) });
    expect(make(PAYOUTS, 1_900_000_000n)).toMatchObject({ risk: 'DANGER', text: expect.stringContaining('locked by') });
  });

  test('a nonce account that pays says whom and how much', () => {
    const told = one(system(5, [ACCOUNT, STRANGER, OTHER, MINT, PAYOUTS], u64(6n * SOL)));
    expect(plain(told.text)).toContain(`Send 6 SOL from ${short(ACCOUNT)} on Solana to ${short(STRANGER)}`);
    expect(told.risk).toBe('LOOK_CLOSELY');
  });

  test('closing says where the rest goes', () => {
    const told = one(token([ACCOUNT, STRANGER, PAYOUTS], [9]));
    expect(said(told)).toEqual([
      `From Payouts on Solana: close token account ${short(ACCOUNT)} and send all coins that are left in it to ${short(STRANGER)}, never paid from here.`,
      'LOOK_CLOSELY',
    ]);
    expect(told.recipients).toMatchObject([{ address: STRANGER }]);
  });

  test('approvals, tokens that are issued and tokens that are burnt', () => {
    const limited = one(token([ACCOUNT, MINT, STRANGER, PAYOUTS], [13, ...u64(5_000_000n), 6]));
    expect(said(limited)).toEqual([
      `From Payouts on Solana: let ${short(STRANGER)} spend up to 5 USDC out of ${short(ACCOUNT)}, at any time.`,
      'LOOK_CLOSELY',
    ]);
    expect(limited.recipients).toMatchObject([{ address: STRANGER }]);
    expect(limited.fields).toContainEqual(expect.objectContaining({ label: 'Spender' }));
    for (const all of [2n ** 64n - 1n, 2n ** 64n - 2n, 2n ** 63n]) {
      expect(one(token([ACCOUNT, MINT, STRANGER, PAYOUTS], [13, ...u64(all), 6]))).toMatchObject({
        risk: 'DANGER',
        text: expect.stringContaining('unlimited USDC'),
      });
    }
    expect(plain(one(token([MINT, STRANGER, PAYOUTS], [7, ...u64(9_000_000n)])).text)).toContain(
      `issue 9 USDC to ${short(STRANGER)}`,
    );
    expect(plain(one(token([ACCOUNT, MINT, PAYOUTS], [8, ...u64(1_000_000n)])).text)).toContain('burn 1 USDC');
  });

  test('what is on the closed list stays routine beside a payment, and says nothing alone', () => {
    const payment = system(2, [PAYOUTS, FRIEND], u64(SOL));
    const harmless = [
      { program: BUDGET, accounts: [], data: [2, ...u32(200_000)] },
      { program: MEMO, accounts: [], data: [...Buffer.from('Invoice 7')] },
      system(4, [ACCOUNT, OTHER, PAYOUTS]),
    ];
    const told = one(payment, ...harmless);
    expect(said(told)).toEqual([`Send 1 SOL from Payouts to ${short(FRIEND)} on Solana.`, 'ROUTINE']);
    expect(told.fields).toContainEqual(
      expect.objectContaining({ label: '3. Memo', value: [expect.objectContaining({ text: 'Invoice 7' })] }),
    );
    expect(said(one(...harmless))).toEqual([
      'Sign a transaction of Payouts on Solana that moves nothing.',
      'LOOK_CLOSELY',
    ]);
  });

  test('unknown programs and numbers are unreadable, whatever stands beside them', () => {
    const payment = system(2, [PAYOUTS, FRIEND], u64(SOL));
    expect(one(payment, { program: PROGRAM, accounts: [], data: [1] }).risk).toBe('UNREADABLE');
    expect(one(payment, system(99, [PAYOUTS])).risk).toBe('UNREADABLE');
    expect(one(payment, token([ACCOUNT, PAYOUTS], [200])).risk).toBe('UNREADABLE');
    // Cut off before what it must have.
    expect(one(payment, system(1, [PAYOUTS], [1, 2])).risk).toBe('UNREADABLE');
    expect(one(payment, token([ACCOUNT], [4, ...u64(1n)])).risk).toBe('UNREADABLE');
  });

  test('rent of an associated account is told', () => {
    const told = one(
      { program: ASSOCIATED, accounts: [PAYOUTS, ACCOUNT, STRANGER, MINT, SYSTEM, TOKEN], data: [1] },
      token([OTHER, MINT, ACCOUNT, PAYOUTS], [12, ...u64(5_000_000n), 6]),
    );
    expect(plain(told.text)).toContain(
      `1. pay up to 0.00203928 SOL to ${short(ACCOUNT)}, the token account of ${short(STRANGER)}`,
    );
    expect(told.risk).toBe('LOOK_CLOSELY');
  });
});

test('all own signers are told, each with what leaves it', () => {
  const told = send(
    [PAYOUTS, TREASURY],
    [system(2, [PAYOUTS, FRIEND], u64(1n)), system(2, [TREASURY, STRANGER], u64(90n * SOL))],
  );
  expect(plain(told.text)).toBe(
    `From Payouts and Treasury on Solana, together: 1. send 0.000000001 SOL of Payouts to ${short(FRIEND)}; 2. send 90 SOL of Treasury to ${short(STRANGER)}, never paid from here.`,
  );
  expect(told.risk).toBe('LOOK_CLOSELY');
  const single = send([PAYOUTS, TREASURY], [system(2, [TREASURY, FRIEND], u64(90n * SOL))]);
  expect(said(single)).toEqual([
    `Send 90 SOL from Treasury to ${short(FRIEND)} on Solana; Payouts signs it too.`,
    'ROUTINE',
  ]);
});

describe('uploaded interfaces', () => {
  const idl = {
    types: [],
    instructions: [
      {
        name: 'withdraw',
        discriminator: [7, 7],
        accounts: [{ name: 'vault' }, { name: 'receiver' }],
        args: [{ name: 'amount', type: 'u64' }],
      },
    ],
  };
  const record = { label: 'Vault', uploadedAtMs: 0, contract: readContractInterface(PROGRAM, idl) };
  const withdraw = { program: PROGRAM, accounts: [ACCOUNT, STRANGER, PAYOUTS], data: [7, 7, ...u64(42n)] };
  const uploaded = { [interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', PROGRAM)]: record };

  test('make an instruction readable, with its arguments and accounts, and never routine', () => {
    const told = send([PAYOUTS], [withdraw], { contractInterface: uploaded });
    expect(said(told)).toEqual(['From Payouts on Solana: run withdraw of Vault.', 'LOOK_CLOSELY']);
    const labels = told.fields.map(({ label, value }) => `${label}: ${value.map(({ text }) => text).join('')}`);
    expect(labels).toEqual(expect.arrayContaining(['amount: 42', `vault: ${ACCOUNT}`, `receiver: ${STRANGER}`]));
    expect(labels).toContain(`Further account: Payouts ${PAYOUTS}`);
    expect(told.marks).toMatchObject([{ text: expect.stringContaining('whoever uploaded it vouches') }]);
  });

  test('do not explain bytes that may be another transaction', () => {
    const opaque = {
      types: [],
      instructions: [{ name: 'propose', discriminator: [8], accounts: [], args: [{ name: 'message', type: 'bytes' }] }],
    };
    const contractInterface = {
      [interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', PROGRAM)]: {
        ...record,
        contract: readContractInterface(PROGRAM, opaque),
      },
    };
    const propose = (...message: number[]) =>
      send([PAYOUTS], [{ program: PROGRAM, accounts: [], data: [8, ...u32(message.length), ...message] }], {
        contractInterface,
      });
    expect(propose(1, 2, 3).risk).toBe('UNREADABLE');
    expect(propose().risk).toBe('LOOK_CLOSELY');
  });

  test('explain neither what is left over nor a program that is known', () => {
    const longer = { ...withdraw, data: [...withdraw.data, 0] };
    expect(send([PAYOUTS], [longer], { contractInterface: uploaded }).risk).toBe('UNREADABLE');
    const contractInterface = { [interfaceKey('SMART_CONTRACT_INTERFACE_TYPE_SOLANA', SYSTEM)]: record };
    const odd = { ...withdraw, program: SYSTEM };
    expect(send([PAYOUTS], [odd], { contractInterface }).risk).toBe('UNREADABLE');
  });
});

describe('fees', () => {
  const payment = system(2, [PAYOUTS, FRIEND], u64(SOL / 2n));
  const budget = (price: bigint) => [
    { program: BUDGET, accounts: [], data: [2, ...u32(1_000_000)] },
    { program: BUDGET, accounts: [], data: [3, ...u64(price)] },
  ];
  test('are said, and marked when they are high', () => {
    const usual = one(payment, ...budget(1_000n));
    expect(usual).toMatchObject({ risk: 'ROUTINE' });
    expect(usual.fields).toContainEqual(
      expect.objectContaining({ label: 'Fee, at most', value: [{ text: '0.000006\u00a0SOL' }] }),
    );
    const high = one(payment, ...budget(20_000_000n));
    expect(high).toMatchObject({ risk: 'LOOK_CLOSELY', text: expect.stringContaining('fee of up to 0.020005') });
    const extreme = one(payment, ...budget(900_000_000n));
    expect(extreme).toMatchObject({ risk: 'DANGER', marks: [{ text: expect.stringContaining('fee') }] });
  });

  test('of another payer are not ours', () => {
    const told = describeRequest(
      'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
      {
        unsignedTransaction: wireOf({ signers: [STRANGER, PAYOUTS], instructions: [payment, ...budget(900_000_000n)] }),
        caip2: CHAIN,
        signWiths: [PAYOUTS],
      },
      { chains, known },
    );
    expect(told.risk).toBe('ROUTINE');
    expect(told.fields).toContainEqual(expect.objectContaining({ label: 'Fee' }));
  });
});

// What each kind of instruction takes from the account that signs, or gives away. The model is written by hand from the
// programs' documentation and shares nothing with the code that speaks.
interface Modelled {
  readonly instruction: TestInstruction;
  /** Words that must be somewhere in the sentence or steps. */
  readonly words: readonly string[];
  readonly floor: 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';
}

const RANKS = ['ROUTINE', 'LOOK_CLOSELY', 'DANGER', 'UNREADABLE'];
const address = fc.integer({ min: 100, max: 200 }).map(key);
const lamports = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const solText = (value: bigint): string => {
  const whole = (value / SOL).toLocaleString('en-US');
  const rest = (value % SOL).toString().padStart(9, '0').replace(/0+$/, '');
  return `${whole}${rest === '' ? '' : `.${rest}`} SOL`;
};
const own = fc.constantFrom(PAYOUTS, TREASURY);

const modelled: fc.Arbitrary<Modelled> = fc.oneof(
  fc.record({ from: own, to: address, value: lamports }).map(
    ({ from, to, value }): Modelled => ({
      instruction: system(2, [from, to], u64(value)),
      words: [solText(value), short(to)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ from: own, to: address, value: lamports, owner: address }).map(
    ({ from, to, value, owner }): Modelled => ({
      instruction: system(0, [from, to], [...u64(value), ...u64(10n), ...bytes(owner)]),
      words: [solText(value), short(to), short(owner)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc
    .record({
      from: own,
      to: address,
      value: lamports,
      owner: address,
      text: fc.string({ maxLength: 32, unit: 'grapheme-ascii' }),
    })
    .map(
      ({ from, to, value, owner, text }): Modelled => ({
        instruction: system(
          3,
          [from, to],
          [...bytes(from), ...seed(text), ...u64(value), ...u64(10n), ...bytes(owner)],
        ),
        words: [solText(value), short(to), short(owner)],
        floor: 'LOOK_CLOSELY',
      }),
    ),
  fc.record({ from: own, owner: address }).map(
    ({ from, owner }): Modelled => ({
      instruction: system(1, [from], bytes(owner)),
      words: [short(owner)],
      floor: 'DANGER',
    }),
  ),
  fc.record({ nonce: address, to: address, by: own, value: lamports }).map(
    ({ nonce, to, by, value }): Modelled => ({
      instruction: system(5, [nonce, to, OTHER, MINT, by], u64(value)),
      words: [solText(value), short(to)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ nonce: address, by: own, to: address }).map(
    ({ nonce, by, to }): Modelled => ({
      instruction: system(7, [nonce, by], bytes(to)),
      words: [short(nonce), short(to)],
      floor: 'DANGER',
    }),
  ),
  fc
    .record({
      by: own,
      to: address,
      value: lamports,
      mint: address,
      program: fc.constantFrom(TOKEN, TOKEN_2022_PROGRAM),
    })
    .map(
      ({ by, to, value, mint, program }): Modelled => ({
        instruction: token([ACCOUNT, mint, to, by], [12, ...u64(value), 6], program),
        words: [String(value), short(to), short(mint)],
        floor: 'LOOK_CLOSELY',
      }),
    ),
  fc.record({ by: own, to: address, value: lamports }).map(
    ({ by, to, value }): Modelled => ({
      instruction: token([ACCOUNT, to, by], [3, ...u64(value)]),
      words: [String(value), short(to)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ by: own, to: address, value: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }) }).map(
    ({ by, to, value }): Modelled => ({
      instruction: token([ACCOUNT, to, by], [4, ...u64(value)]),
      words: [value >= 2n ** 63n ? 'unlimited' : String(value), short(to)],
      floor: value >= 2n ** 63n ? 'DANGER' : 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ by: own, to: address, kind: fc.integer({ min: 0, max: 20 }) }).map(
    ({ by, to, kind }): Modelled => ({
      instruction: token([ACCOUNT, by], [6, kind, 1, ...bytes(to)]),
      words: [short(ACCOUNT), short(to)],
      floor: 'DANGER',
    }),
  ),
  fc.record({ by: own, to: address }).map(
    ({ by, to }): Modelled => ({
      instruction: token([ACCOUNT, to, by], [9]),
      words: [short(ACCOUNT), short(to)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ by: own, to: address, value: lamports, mint: address }).map(
    ({ by, to, value, mint }): Modelled => ({
      instruction: token([mint, to, by], [7, ...u64(value)]),
      words: [String(value), short(mint), short(to)],
      floor: 'LOOK_CLOSELY',
    }),
  ),
  fc.record({ by: own, kind: fc.integer({ min: 47, max: 254 }) }).map(
    ({ by, kind }): Modelled => ({
      instruction: token([ACCOUNT, by], [kind, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
      words: [],
      floor: 'UNREADABLE',
    }),
  ),
  fc.record({ by: own, kind: fc.integer({ min: 13, max: 4_000 }) }).map(
    ({ by, kind }): Modelled => ({
      instruction: system(kind, [by], u64(1n)),
      words: [],
      floor: 'UNREADABLE',
    }),
  ),
  fc
    .record({ program: fc.integer({ min: 201, max: 250 }).map(key), data: fc.array(fc.nat(255), { maxLength: 40 }) })
    .map(
      ({ program, data }): Modelled => ({
        instruction: { program, accounts: [PAYOUTS], data },
        words: [],
        floor: 'UNREADABLE',
      }),
    ),
);

describe('any transaction', () => {
  test('tells every amount and recipient, and is never less careful than its worst instruction', () => {
    fc.assert(
      fc.property(fc.array(modelled, { minLength: 1, maxLength: 4 }), (parts) => {
        const told = send(
          [PAYOUTS, TREASURY],
          parts.map(({ instruction }) => instruction),
        );
        const words = plain(
          [told.text, ...told.steps.map(({ sentence }) => sentence.map(({ text }) => text).join(''))].join('\n'),
        );
        for (const part of parts) {
          for (const word of part.words) expect(words).toContain(word);
          expect(RANKS.indexOf(told.risk)).toBeGreaterThanOrEqual(RANKS.indexOf(part.floor));
        }
        expect(told.consequence).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });

  test('of random bytes for the known programs is told without an error, and not routine', () => {
    const any = fc.record({
      program: fc.constantFrom(SYSTEM, TOKEN, TOKEN_2022_PROGRAM, STAKE, LOADER, ASSOCIATED),
      accounts: fc.array(fc.constantFrom(PAYOUTS, TREASURY, STRANGER, ACCOUNT, MINT), { maxLength: 6 }),
      data: fc.array(fc.nat(255), { maxLength: 60 }).map((rest) => rest),
      number: fc.integer({ min: 0, max: 47 }),
    });
    fc.assert(
      fc.property(any, ({ program, accounts, data, number }) => {
        const width = program === TOKEN || program === TOKEN_2022_PROGRAM || program === ASSOCIATED ? 1 : 4;
        const head = width === 1 ? [number] : u32(number);
        const told = send([PAYOUTS, TREASURY], [{ program, accounts, data: [...head, ...data] }]);
        expect(told.text.length).toBeGreaterThan(10);
        // Payments between the two own accounts may be routine, and rights that are taken back.
        const isOwn = /to (?:Payouts|Treasury)\b|take back/.test(told.text);
        if (!isOwn) expect(told.risk).not.toBe('ROUTINE');
      }),
      { numRuns: 500 },
    );
  });
});
