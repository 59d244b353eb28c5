import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { compileExpression, evaluate, type Namespaces } from '../../policy/index.ts';
import { mayBe, parseCaip19 } from '../caip19.ts';
import { checkContractInterface } from '../contract-interface.ts';
import type { ContractInterface } from '../contract-interface-types.ts';
import type { SignerAccount } from '../signable.ts';
import { assetMovements, interfacesNeeded, readTransaction, transactionNamespaces } from '../transactions.ts';

// An independent encoder: just concatenation, with lengths below 128 as one byte.
type Bytes = readonly number[] | Uint8Array;
const cat = (...parts: (Bytes | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const array = (items: readonly Bytes[]): Uint8Array => cat(items.length, ...items);
const u64 = (value: bigint): Uint8Array => new Uint8Array(new BigUint64Array([value]).buffer);
const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const name = (fill: number): string => base58.encode(key(fill));
const instruction = (program: number, accounts: readonly number[], data: Bytes): Uint8Array =>
  cat(program, accounts.length, accounts, data.length, data);

const SYSTEM = new Uint8Array(32);
const TOKEN = base58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022 = base58.decode('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const LOOKUP = 'ADDRESS_TABLE_LOOKUP';

const PAYER = 1;
const OTHER = 2;
const PROGRAM = 9;
const account: SignerAccount = {
  curve: 'CURVE_ED25519',
  publicKey: key(PAYER),
  address: name(PAYER),
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};

/**
 * Accounts: 0 the signer, 1 another signer, 2 to 4 others, 5 the system program, 6 and 7 the token programs, 8 a program of
 * ours; with tables 9 and 10 come from one, the second of them read only.
 */
function parsed(instructions: readonly Uint8Array[], tables = false) {
  const keys = [key(PAYER), key(OTHER), key(3), key(4), key(5), SYSTEM, TOKEN, TOKEN_2022, key(PROGRAM)];
  const body = cat([2, 0, 4], array(keys), key(0xbb), array(instructions));
  const message = tables ? cat(0x80, body, array([cat(key(0x71), 1, 20, 1, 30)])) : body;
  return readTransaction('TRANSACTION_TYPE_SOLANA', Buffer.from(message).toString('hex'), {
    account,
    addresses: [account],
  });
}

const factsOf = (instructions: readonly Uint8Array[], interfaces: readonly ContractInterface[] = [], tables = false) =>
  transactionNamespaces(parsed(instructions, tables), interfaces);

function judge(text: string, facts: Namespaces): boolean | string {
  const compiled = compileExpression('condition', text);
  if (!compiled.ok) return compiled.error.code;
  const result = evaluate(compiled.expression, facts);
  return result.ok ? result.value : result.error.code;
}

const transfer = (from: number, to: number, amount: bigint) => instruction(5, [from, to], cat(2, 0, 0, 0, u64(amount)));

const idl = checkContractInterface(
  'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
  name(PROGRAM),
  JSON.stringify({
    types: [],
    instructions: [
      {
        name: 'route',
        discriminator: [7, 7],
        accounts: [{ name: 'payer' }, { name: 'vault' }],
        args: [
          { name: 'in_amount', type: 'u64' },
          { name: 'ratio', type: 'f64' },
        ],
      },
    ],
  }),
);
const ratio = Buffer.from(new Float64Array([0.5]).buffer);
const route = (amount: bigint, tail: Bytes = []) => instruction(8, [0, 3], cat(7, 7, u64(amount), ratio, tail));

describe('solana.tx', () => {
  test('a message with everything', () => {
    const facts = factsOf(
      [
        transfer(0, 9, 5n),
        instruction(6, [2, 4, 3, 0], cat(12, u64(8n), 6)),
        instruction(6, [2, 10, 4, 0, 1], cat(3, u64(9n))),
      ],
      [],
      true,
    );
    const lookup = (writable: bigint[], readonly: bigint[]) => [
      { address_table_key: name(0x71), writable_indexes: writable, readonly_indexes: readonly },
    ];
    const used = (key: string, signer = false, writable = true) => ({ account_key: key, signer, writable });
    const token = base58.encode(TOKEN);
    expect(facts).toEqual({
      solana: {
        tx: {
          account_keys: [
            name(PAYER),
            name(OTHER),
            name(3),
            name(4),
            name(5),
            base58.encode(SYSTEM),
            token,
            base58.encode(TOKEN_2022),
            name(PROGRAM),
            LOOKUP,
            LOOKUP,
          ],
          program_keys: [base58.encode(SYSTEM), token],
          instructions: [
            {
              program_key: base58.encode(SYSTEM),
              accounts: [used(name(PAYER), true), used(LOOKUP)],
              instruction_data_hex: '020000000500000000000000',
              address_table_lookups: lookup([20n], []),
            },
            {
              program_key: token,
              accounts: [used(name(3)), used(name(5)), used(name(4)), used(name(PAYER), true)],
              instruction_data_hex: '0c080000000000000006',
              address_table_lookups: [],
            },
            {
              program_key: token,
              accounts: [
                used(name(3)),
                used(LOOKUP, false, false),
                used(name(5)),
                used(name(PAYER), true),
                used(name(OTHER), true),
              ],
              instruction_data_hex: '030900000000000000',
              address_table_lookups: lookup([], [30n]),
            },
          ],
          transfers: [{ from: name(PAYER), to: LOOKUP, amount: 5n }],
          spl_transfers: [
            { from: name(3), to: name(4), amount: 8n, owner: name(PAYER), signers: [], token_mint: name(5) },
            {
              from: name(3),
              to: LOOKUP,
              amount: 9n,
              owner: name(5),
              signers: [name(PAYER), name(OTHER)],
              token_mint: '',
            },
          ],
          recent_blockhash: name(0xbb),
          address_table_lookups: lookup([20n], [30n]),
        },
      },
    });
  });

  test('TransferCheckedWithFee of Token-2022 only', () => {
    const data = cat(26, 1, u64(8n), 6, u64(1n));
    const facts = factsOf([instruction(7, [2, 4, 3, 0], data), instruction(6, [2, 4, 3, 0], data)]);
    expect(facts.solana?.tx?.spl_transfers).toEqual([
      { from: name(3), to: name(4), amount: 8n, owner: name(PAYER), signers: [], token_mint: name(5) },
    ]);
  });

  test('a program from a table is refused', () => {
    expect(() => parsed([instruction(9, [], [])], true)).toThrow('takes its program from an address look-up table');
  });

  test('the IDL of the program, and only of that one, says what an instruction means', () => {
    const facts = factsOf([transfer(0, 2, 1n), route(5n)], [idl]);
    expect(facts.solana?.tx?.instructions.map((one) => one.parsed_instruction_data)).toEqual([
      undefined,
      {
        instruction_name: 'route',
        discriminator: '0707',
        named_accounts: new Map([
          ['payer', name(PAYER)],
          ['vault', name(4)],
        ]),
        program_call_args: new Map<string, unknown>([
          ['in_amount', { kind: 'uint', value: 5n }],
          ['ratio', { kind: 'tuple', items: [] }],
        ]),
      },
    ]);
    expect(interfacesNeeded(parsed([transfer(0, 2, 1n), route(5n)]))).toEqual([
      { type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', address: base58.encode(SYSTEM) },
      { type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', address: name(PROGRAM) },
    ]);
  });

  test('policies read it', () => {
    const of = (condition: string) =>
      `solana.tx.instructions.filter(i, i.program_key == '${name(PROGRAM)}').any(i, i.parsed_instruction_data.${condition})`;
    const facts = factsOf([transfer(0, 2, 1n), route(5n)], [idl]);
    expect(judge(of("program_call_args['in_amount'] == 5"), facts)).toBe(true);
    expect(judge(of(`named_accounts['vault'] == '${name(4)}'`), facts)).toBe(true);
    expect(judge(of(`named_account['vault'] == '${name(4)}'`), facts)).toBe(true);
    // A float is no number to compare, and no text or list either.
    for (const test of ['== 1', '< 1', "== '0.5'", '== true', '.count() == 1', '[0] == 1']) {
      expect(
        judge(of(`program_call_args['ratio']${test.startsWith('.') || test.startsWith('[') ? '' : ' '}${test}`), facts),
      ).toMatch(/^R_(TYPE|INDEX)$/);
    }
    expect(judge("solana.tx.instructions.any(i, i.parsed_instruction_data.instruction_name == 'route')", facts)).toBe(
      'R_MISSING_FIELD',
    );
    expect(judge(of("program_call_args['in_amount'] == 5"), factsOf([route(5n, [0])], [idl]))).toBe('R_MISSING_FIELD');
  });

  test('one budget for all instructions of a transaction', () => {
    const empty = checkContractInterface(
      'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
      name(PROGRAM),
      JSON.stringify({
        types: [{ name: 'E', type: { kind: 'struct' } }],
        instructions: [{ name: 'go', discriminator: [1], args: [{ name: 'a', type: { vec: { defined: 'E' } } }] }],
      }),
    );
    const go = (count: number) => instruction(8, [], cat(1, new Uint8Array(new Uint32Array([count]).buffer)));
    const parsedOnes = (...counts: number[]) =>
      factsOf(counts.map(go), [empty]).solana?.tx?.instructions.map((one) => one.parsed_instruction_data !== undefined);
    expect(parsedOnes(10_000, 10)).toEqual([true, true]);
    expect(parsedOnes(10_000, 10_000)).toEqual([true, false]);
  });

  test('random bytes: a transaction or a refusal', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }), (instructions) => {
        try {
          const parsedOne = parsed(instructions.map((bytes) => cat(bytes)));
          transactionNamespaces(parsedOne, [idl]);
          assetMovements(parsedOne);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});

describe('what leaves the signer', () => {
  const SOL = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501';
  const token = (mint: number) => `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:${name(mint)}`;
  const moved = (caip19: string, ...instructions: Uint8Array[]) =>
    assetMovements(parsed(instructions, true))
      .transfers.filter((one) => mayBe(one, parseCaip19(caip19)))
      .map(({ amount }) => amount);
  const checked = (owner: number, mint: number, amount: bigint) =>
    instruction(6, [2, mint, 3, owner], cat(12, u64(amount), 6));

  test('SOL, by transfers and by funding new accounts', () => {
    const seed = cat(key(PAYER), u64(4n), Buffer.from('seed'));
    expect(
      moved(
        SOL,
        transfer(0, 2, 5n),
        transfer(1, 2, 7n),
        transfer(0, 0, 11n),
        transfer(0, 1, 0n),
        instruction(5, [0, 2], cat(0, 0, 0, 0, u64(13n), u64(0n), key(3))),
        instruction(5, [0, 2, 0], cat(3, 0, 0, 0, seed, u64(17n), u64(0n), key(3))),
        instruction(5, [1, 2], cat(0, 0, 0, 0, u64(19n), u64(0n), key(3))),
      ),
    ).toEqual([5n, 13n, 17n]);
  });

  test('a derived account counts, since its base may be the signer', () => {
    expect(moved(SOL, instruction(5, [3, 0, 2], cat(11, 0, 0, 0, u64(5n), u64(1n), 65, key(3))))).toEqual([5n]);
  });

  test('tokens of the mint, and those whose mint is not said', () => {
    const plain = instruction(6, [2, 3, 0], cat(3, u64(9n)));
    const multisig = instruction(6, [2, 4, 3, 2, 0, 1], cat(12, u64(21n), 6));
    const instructions = [checked(0, 4, 5n), checked(1, 4, 7n), checked(0, 10, 11n), plain, multisig];
    expect(moved(token(5), ...instructions)).toEqual([5n, 11n, 9n, 21n]);
    expect(moved(token(6), ...instructions)).toEqual([11n, 9n]);
    expect(moved(SOL, ...instructions)).toEqual([]);
  });
});
