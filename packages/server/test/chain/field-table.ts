import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { FieldRule } from '../../src/chains/field-table.ts';
import type { Candidates } from '../../src/chains/signable.ts';
import {
  assetMovements,
  highestFees,
  type ParsedTransaction,
  readTransaction,
  signableOf,
  type TransactionType,
  transactionNamespaces,
} from '../../src/chains/transactions.ts';
import { ApiError } from '../../src/lib/errors.ts';

type Table = Readonly<Record<string, FieldRule>>;

/** Reads a transaction that differs in one field; a pair where the field cannot differ from the base alone. */
type Change = () => ParsedTransaction | readonly [ParsedTransaction, ParsedTransaction];

/** The fields of a table, parts of lists among them: `calls.to`. Those that follow from others are left out. */
const leavesOf = (table: Table): [path: string, rule: FieldRule][] =>
  Object.entries(table).flatMap(([name, rule]): [string, FieldRule][] => {
    if (rule.each !== undefined) return leavesOf(rule.each).map(([path, leaf]) => [`${name}.${path}`, leaf]);
    return rule.derivedFrom === undefined ? [[name, rule]] : [];
  });

interface Unsigned {
  readonly type: TransactionType;
  readonly unsigned: string;
  readonly signer: Candidates;
}

/** Changes every field of a transaction, and sees that the table says what comes of it. */
export function testFieldTable(table: Table, given: Unsigned, changes: Readonly<Record<string, Change>>): void {
  const { type, unsigned, signer } = given;
  const leaves = leavesOf(table);
  const base = () => readTransaction(type, unsigned, signer);

  test('whatever changes what is signed changes a field', () => {
    const payloads = (hex: string) => signableOf(type, hex, signer).signable.payloads.map(hexOf);
    /** Fields that follow from others would differ for any byte. */
    const fields = (hex: string) =>
      Object.entries(readTransaction(type, hex, signer).transaction).filter(
        ([name]) => table[name]?.derivedFrom === undefined,
      );
    const [signedBefore, fieldsBefore] = [payloads(unsigned), fields(unsigned)];
    for (const { changed, at } of withOneBitChanged(unsigned)) {
      const signed = orRefused(() => payloads(changed));
      if (signed === undefined || isDeepStrictEqual(signed, signedBefore)) continue;
      expect(isDeepStrictEqual(fields(changed), fieldsBefore), `byte ${at} is in no field`).toBe(false);
    }
  });

  test('every field is changed once', () => {
    expect(Object.keys(changes).toSorted()).toEqual(leaves.map(([path]) => path).toSorted());
  });

  test.each(leaves)('%s', (path, rule) => {
    const change = changes[path] ?? (() => expect.fail('the field has no change'));
    if (rule.absent || rule.mustBe !== undefined) {
      if (rule.absent) expect([[], [0n]]).toContainEqual(valuesAt(base().transaction, path));
      expect(change).toThrow(expect.objectContaining({ name: 'ApiError', code: 'INVALID_TRANSACTION' }));
      return;
    }
    const read = change();
    const [before, after] = 'type' in read ? [base(), read] : read;
    expect(valuesAt(after.transaction, path)).not.toEqual(valuesAt(before.transaction, path));
    if (rule.policy !== undefined) {
      const fact = factPath(table, path);
      expect(valuesAt(factsOf(after), fact)).not.toEqual(valuesAt(factsOf(before), fact));
    } else if (rule.policyIn !== undefined) {
      expect(valuesAt(factsOf(after), rule.policyIn)).not.toEqual(valuesAt(factsOf(before), rule.policyIn));
    } else if (rule.velocity !== undefined) {
      expect(countedOf(after)).not.toEqual(countedOf(before));
    } else {
      // A reason for not being seen must not hide that it is.
      expect(factsOf(after)).toEqual(factsOf(before));
      expect(countedOf(after)).toEqual(countedOf(before));
    }
  });
}

function* withOneBitChanged(hex: string) {
  for (let at = 0; at < hex.length / 2; at += 1) {
    for (const bit of [0x01, 0x80]) {
      const bytes = Buffer.from(hex, 'hex');
      bytes.writeUInt8((bytes[at] ?? 0) ^ bit, at);
      yield { changed: bytes.toString('hex'), at };
    }
  }
}

function orRefused<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const factsOf = (parsed: ParsedTransaction): unknown =>
  Object.values(transactionNamespaces(parsed)).map((namespace) => (namespace as { readonly tx: unknown }).tx)[0];

const countedOf = (parsed: ParsedTransaction) => [assetMovements(parsed), highestFees(parsed)];

/** The names that policies have for a field and what it is part of. */
function factPath(table: Table, path: string): string {
  const names: string[] = [];
  let rules: Table = table;
  for (const name of path.split('.')) {
    const rule = rules[name];
    names.push(rule?.policy ?? '');
    rules = rule?.each ?? {};
  }
  return names.join('.');
}

/** What stands at a path, of every element of a list. */
function valuesAt(value: unknown, path: string): unknown[] {
  let values: unknown[] = [value];
  for (const name of path.split('.')) {
    values = values.flatMap((one) => {
      const member = (one as Readonly<Record<string, unknown>> | undefined)?.[name];
      return Array.isArray(member) ? member : [member];
    });
  }
  return values;
}
