import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import {
  BLOCKHASH,
  messageOf,
  payment,
  RECEIVER,
  SYSTEM_PROGRAM,
  type TestTransaction,
  wireOf,
} from '../../../test/chain/solana-transfer.ts';
import { ApiError } from '../../lib/errors.ts';
import { draftSolana, hexOfEither, type SolanaTerms } from './solana-request.ts';

const secretOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const addressOf = (fill: number): string => base58.encode(ed25519.getPublicKey(secretOf(fill)));
const [ALICE, BOB, STRANGER, OPERATOR] = [1, 2, 3, 4].map(addressOf) as [string, string, string, string];
const NO_BLOCKHASH = '1'.repeat(32);
const OTHER_BLOCKHASH = base58.encode(new Uint8Array(32).fill(0xcc));

const signedBy = (fill: number, transaction: TestTransaction): Uint8Array =>
  ed25519.sign(messageOf(transaction), secretOf(fill));

const draft = (transaction: TestTransaction, terms: Partial<SolanaTerms> = {}) =>
  draftSolana({
    unsignedTransaction: wireOf(transaction),
    signers: [ALICE],
    recentBlockhash: undefined,
    sponsor: undefined,
    ...terms,
  });

function refusal(run: () => unknown): { readonly code: string; readonly message: string } {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    const { code, message } = error as ApiError;
    return { code, message };
  }
  throw new Error('it was accepted');
}
const refused = (reason: string) => ({ code: 'INVALID_TRANSACTION', message: expect.stringMatching(reason) });

describe('a transaction', () => {
  const plain = { signers: [ALICE] };

  test('is kept as it is', () => {
    expect(draft(plain)).toMatchObject({
      sender: ALICE,
      request: {
        kind: 'solana',
        transaction: wireOf(plain),
        signers: [ALICE],
        takesFreshBlockhash: false,
        isSponsored: false,
      },
    });
  });

  test('may be the message alone', () => {
    const unsignedTransaction = Buffer.from(messageOf(plain)).toString('hex');
    expect(draft(plain, { unsignedTransaction }).request.transaction).toBe(wireOf(plain));
  });

  test('gets another blockhash', () => {
    for (const version of ['legacy', 0] as const) {
      const { request, wire } = draft({ ...plain, version }, { recentBlockhash: OTHER_BLOCKHASH });
      expect(request.transaction).toBe(wireOf({ ...plain, version, blockhash: OTHER_BLOCKHASH }));
      expect(wire.transaction.recentBlockhash).toBe(OTHER_BLOCKHASH);
    }
  });

  test('takes a fresh one where it has none', () => {
    expect(draft({ ...plain, blockhash: NO_BLOCKHASH }).request.takesFreshBlockhash).toBe(true);
    expect(draft(plain, { recentBlockhash: NO_BLOCKHASH }).request.takesFreshBlockhash).toBe(true);
    expect(draft({ ...plain, blockhash: NO_BLOCKHASH }, { recentBlockhash: BLOCKHASH }).request).toMatchObject({
      transaction: wireOf(plain),
      takesFreshBlockhash: false,
    });
  });

  test.each(['', 'x', '0'.repeat(44), BLOCKHASH.slice(2), `${BLOCKHASH}1`, '1'.repeat(33)])(
    'has no blockhash %j',
    (recentBlockhash) => {
      expect(refusal(() => draft(plain, { recentBlockhash })).code).toBe('REQUEST_INVALID');
    },
  );

  test('forgets signatures of those who sign it here', () => {
    const signatures = { [ALICE]: new Uint8Array(64).fill(9) };
    expect(draft({ ...plain, signatures }).request.transaction).toBe(wireOf(plain));
  });

  test('is of its first signer among ours, in whatever order they are named', () => {
    const both = { signers: [ALICE, BOB] };
    const drafts = [
      [ALICE, BOB],
      [BOB, ALICE],
    ].map((signers) => draft(both, { signers }));
    expect(drafts[0]).toEqual(drafts[1]);
    expect(drafts[0]).toMatchObject({ sender: ALICE, request: { signers: [ALICE, BOB] } });
  });

  test('who signs must be asked for by it', () => {
    expect(refusal(() => draft({ signers: [ALICE] }, { signers: [ALICE, BOB] }))).toEqual(
      refused(`${BOB} is not among the required signers`),
    );
    // An account that is only named does not sign.
    const named = { signers: [ALICE], instructions: [payment(ALICE, BOB, 1)] };
    expect(draft(named).sender).toBe(ALICE);
    expect(refusal(() => draft(named, { signers: [BOB] }))).toEqual(refused('not among the required signers'));
  });

  test('with a durable nonce would never expire', () => {
    const advance = { program: SYSTEM_PROGRAM, accounts: [RECEIVER, ALICE], data: [4, 0, 0, 0] };
    const pay = payment(ALICE, RECEIVER, 1);
    expect(draft({ ...plain, instructions: [pay, advance] }).sender).toBe(ALICE);
    expect(refusal(() => draft({ ...plain, instructions: [advance, pay] }))).toEqual(refused('durable nonce'));
  });
});

describe('signatures of others', () => {
  const shared = { signers: [STRANGER, ALICE] };

  test('are kept', () => {
    const signatures = { [STRANGER]: signedBy(3, shared) };
    expect(draft({ ...shared, signatures })).toMatchObject({
      sender: ALICE,
      request: { signers: [ALICE], transaction: wireOf({ ...shared, signatures }) },
    });
  });

  test.each([
    ['a missing one', undefined, 'which it does not have'],
    ['one of another key', signedBy(2, shared), 'not one of this message'],
    ['one of another message', signedBy(3, { ...shared, lamports: 50 }), 'not one of this message'],
    ['one that no key made', new Uint8Array(64).fill(255), 'not one of this message'],
  ])('%s is not enough', (_name, signature, reason) => {
    const right = { ...shared, signatures: { [STRANGER]: signedBy(3, shared) } };
    expect(draft(right).sender).toBe(ALICE);
    const wrong = { ...shared, signatures: signature === undefined ? {} : { [STRANGER]: signature } };
    expect(refusal(() => draft(wrong))).toEqual(refused(reason));
  });

  test('are of no use to another blockhash', () => {
    const signatures = { [STRANGER]: signedBy(3, shared) };
    const other = { ...shared, blockhash: OTHER_BLOCKHASH };
    expect(refusal(() => draft({ ...shared, signatures }, { recentBlockhash: OTHER_BLOCKHASH }))).toEqual(
      refused('not one of this message'),
    );
    const again = { [STRANGER]: signedBy(3, other) };
    expect(draft({ ...shared, signatures: again }, { recentBlockhash: OTHER_BLOCKHASH }).request.transaction).toBe(
      wireOf({ ...other, signatures: again }),
    );
  });

  test('cannot be there before the blockhash', () => {
    const open = { ...shared, blockhash: NO_BLOCKHASH };
    const signatures = { [STRANGER]: signedBy(3, open) };
    expect(refusal(() => draft({ ...open, signatures }))).toEqual(refused('has no blockhash'));
  });
});

describe('a sponsored transaction', () => {
  const pay = payment(ALICE, RECEIVER, 1);
  const sponsored = { signers: [OPERATOR, ALICE], instructions: [pay] };
  const terms = { sponsor: OPERATOR };

  test('is signed by the operator as its payer', () => {
    expect(draft(sponsored, terms)).toMatchObject({
      sender: ALICE,
      request: { signers: [ALICE], isSponsored: true, transaction: wireOf(sponsored) },
    });
  });

  test('must name the operator as its payer', () => {
    expect(refusal(() => draft({ ...sponsored, signers: [ALICE] }, terms))).toEqual(refused('payer of its fee'));
    expect(refusal(() => draft({ ...sponsored, signers: [ALICE, OPERATOR] }, terms))).toEqual(
      refused('payer of its fee'),
    );
  });

  test('without the word is one that lacks a signature', () => {
    expect(refusal(() => draft(sponsored))).toEqual(refused(`needs the signature of ${OPERATOR}`));
  });

  test('may not use what is the operator’s', () => {
    const theft = payment(OPERATOR, RECEIVER, 1);
    expect(refusal(() => draft({ ...sponsored, instructions: [pay, theft] }, terms))).toEqual(
      refused('instruction 1 uses the account of the sponsor'),
    );
  });

  test('may not cost much', () => {
    const program = 'ComputeBudget111111111111111111111111111111';
    const limit = { program, accounts: [], data: [2, 0x40, 0x42, 0x0f, 0] };
    const price = (microLamports: bigint) => ({
      program,
      accounts: [],
      data: [3, ...new Uint8Array(new BigUint64Array([microLamports]).buffer)],
    });
    const costing = (microLamports: bigint) => ({ ...sponsored, instructions: [limit, price(microLamports), pay] });
    // A million units: as many lamports as micro-lamports for a unit, and 10,000 for the two signatures.
    expect(draft(costing(990_000n), terms).request.isSponsored).toBe(true);
    expect(refusal(() => draft(costing(990_001n), terms))).toEqual(refused('above 1000000 lamports'));
  });
});

describe('hex or base64', () => {
  const hex = wireOf({ signers: [ALICE] });

  test.each([
    ['hex', hex, hex],
    ['hex with 0x', `0x${hex}`, `0x${hex}`],
    ['base64', Buffer.from(hex, 'hex').toString('base64'), hex],
  ])('%s', (_name, text, expected) => {
    expect(hexOfEither(text)).toBe(expected);
  });

  test.each(['base64?', 'AQAAA', 'AQ==AQ==', 'Zm9v Zm9v', 'Zm9vYg=', 'ключ'])('neither: %s', (text) => {
    expect(refusal(() => hexOfEither(text))).toEqual(refused('neither hex nor base64'));
  });
});
