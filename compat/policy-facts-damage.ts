// What is the same for every chain: how a transaction is read, and how the bytes of one are spoilt.
import type { Namespaces } from '@custos/server/policy';
import {
  type ContractInterface,
  readTransaction,
  type SignerAccount,
  signableOf,
  type TransactionType,
  transactionNamespaces,
} from '@custos/server/policy-facts';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ApiError } from '../packages/server/src/lib/errors.ts';

/** A transaction of a library, with what the library says about it. */
export interface Built {
  readonly unsigned: string;
  readonly account: SignerAccount;
  readonly interfaces?: readonly ContractInterface[];
  readonly facts: Namespaces;
  /** What the library would sign, in hex. */
  readonly payloads: readonly string[];
}

/** How the service understood a transaction; a part that it refused is undefined. */
export interface Understood {
  readonly facts: Namespaces | undefined;
  readonly payloads: readonly string[] | undefined;
  /** The signed form, with signatures of the right length that nobody made. */
  readonly attach: ((byte: number) => string) | undefined;
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex');

/** The only way in which anything may be refused. */
export function unlessRefused<Result>(code: ApiError['code'], read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return undefined;
    throw error;
  }
}

export function understand(
  type: TransactionType,
  unsigned: string,
  account: SignerAccount,
  interfaces: readonly ContractInterface[] = [],
): Understood {
  const signer = { account, addresses: [account] };
  const facts = unlessRefused('INVALID_TRANSACTION', () =>
    transactionNamespaces(readTransaction(type, unsigned, signer), interfaces),
  );
  const signable = unlessRefused('INVALID_TRANSACTION', () => signableOf(type, unsigned, signer).signable);
  // What nobody could judge must not be signed.
  if (signable !== undefined) expect(facts, unsigned).toBeDefined();
  return {
    facts,
    payloads: signable?.payloads.map(hexOf),
    attach: signable && ((byte) => signable.attach(signable.payloads.map(() => fakeSignature(byte)))),
  };
}

export const fakeSignature = (byte: number) =>
  ({ r: new Uint8Array(32).fill(byte), s: new Uint8Array(32).fill(byte), v: 0 }) as const;

export function expectUnderstood(type: TransactionType, { unsigned, account, interfaces, ...said }: Built): void {
  const { facts, payloads } = understand(type, unsigned, account, interfaces);
  expect(facts).toEqual(said.facts);
  expect(payloads).toEqual(said.payloads);
}

const KINDS = ['append', 'remove', 'change', 'flip', 'insert', 'cut', 'repeat', 'longer', 'wider'] as const;

/** Two places in bytes of any length, each as likely as any other, and a byte. */
const damage = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: fc.noBias(fc.nat(9_999)),
  until: fc.noBias(fc.nat(9_999)),
  byte: fc.nat(255),
});
type Damage = typeof damage extends fc.Arbitrary<infer One> ? One : never;

/** Small damage that leaves most of the structure alone, because only such may pass for a transaction. */
function spoil(bytes: Buffer, { kind, byte, ...places }: Damage): Buffer {
  const at = Math.floor((places.at * bytes.length) / 10_000);
  const until = Math.floor((places.until * bytes.length) / 10_000);
  const known = bytes[at] ?? 0;
  const spliced = (removed: number, ...added: number[]): Buffer =>
    Buffer.concat([bytes.subarray(0, at), Uint8Array.from(added), bytes.subarray(at + removed)]);
  switch (kind) {
    case 'append':
      return Buffer.concat([bytes, Uint8Array.of(byte)]);
    case 'remove':
      return spliced(1);
    case 'change':
      return spliced(1, byte);
    case 'flip':
      return spliced(1, known ^ (1 << (byte % 8)));
    case 'insert':
      return spliced(0, byte);
    case 'cut':
      return bytes.subarray(0, at);
    case 'repeat':
      return spliced(0, ...bytes.subarray(at, until));
    // A length in more bytes than it needs: as Solana and Tron write lengths, and as Bitcoin does.
    case 'longer':
      return spliced(1, known | 0x80, 0);
    case 'wider':
      return spliced(1, 0xfd, known, 0);
  }
}

interface Search<Sample> {
  readonly samples: fc.Arbitrary<Sample>;
  readonly bytes: (sample: Sample) => Buffer;
  /** Throws when what was accepted is not what the bytes say; answers whether they were accepted. */
  readonly judge: (bytes: Buffer, sample: Sample) => boolean;
}

const SAMPLES = 240;
const DAMAGES = 9;

/** Spoils more than 2,000 transactions. */
export function searchDamaged<Sample>({ samples, bytes, judge }: Search<Sample>): void {
  let accepted = 0;
  fc.assert(
    fc.property(samples, fc.array(damage, { minLength: DAMAGES, maxLength: DAMAGES }), (sample, damages) => {
      const whole = bytes(sample);
      for (const one of damages) {
        const spoilt = spoil(whole, one);
        if (spoilt.equals(whole)) continue;
        try {
          if (judge(spoilt, sample)) accepted += 1;
        } catch (error) {
          throw new Error(`damaged: ${hexOf(spoilt)}`, { cause: error });
        }
      }
    }),
    { numRuns: SAMPLES },
  );
  // Lest the judge never speaks: damage to an amount or an address leaves a transaction.
  expect(accepted).toBeGreaterThan(SAMPLES / 10);
}

/** Bytes and text that nobody built, some of which begin as the chain's transactions do. */
export function expectNoCrash(type: TransactionType, account: SignerAccount, beginnings: readonly string[]): void {
  const hex = fc
    .tuple(fc.constantFrom('', '0x'), fc.constantFrom('', ...beginnings), fc.uint8Array({ maxLength: 200 }))
    .map(([prefix, beginning, tail]) => prefix + beginning + hexOf(tail));
  fc.assert(
    fc.property(
      fc.oneof(hex, fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0123abCx ') })),
      (text) => {
        understand(type, text, account);
      },
    ),
    { numRuns: 400 },
  );
}
