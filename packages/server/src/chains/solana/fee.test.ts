import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { payment, RECEIVER, type TestInstruction, wireOf } from '../../../test/chain/solana-transfer.ts';
import { highestFee } from './fee.ts';
import { parseSolana } from './solana.ts';

const [ALICE, BOB] = [5, 6].map((fill) => base58.encode(new Uint8Array(32).fill(fill))) as [string, string];
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';

const budget = (kind: number, bytes: number, value: bigint): TestInstruction => {
  const data = Buffer.alloc(1 + bytes);
  data.writeUInt8(kind);
  for (let at = 0; at < bytes; at += 1) data.writeUInt8(Number((value >> BigInt(8 * at)) & 0xffn), 1 + at);
  return { program: COMPUTE_BUDGET, accounts: [], data };
};
const limit = (units: bigint) => budget(2, 4, units);
const price = (microLamports: bigint) => budget(3, 8, microLamports);
const checks = (program: string, count: number) => ({ program, accounts: [], data: [count, 0] });

const feeOf = (instructions: readonly TestInstruction[], signers = [ALICE]) =>
  highestFee(parseSolana(wireOf({ signers, instructions: [payment(ALICE, RECEIVER, 1), ...instructions] })));

describe('the highest fee', () => {
  test.each([
    ['one signature', 5000n, []],
    ['a price without a limit counts for all units that there may be', 5000n + 1_400_000n, [price(1_000_000n)]],
    ['a price for a limit', 5000n + 20_000n, [limit(200_000n), price(100_000n)]],
    ['in any order', 5000n + 20_000n, [price(100_000n), limit(200_000n)]],
    ['part of a lamport is one', 5001n, [limit(1n), price(1n)]],
    ['a limit above the highest', 5000n + 1_400_000n, [limit(4_000_000_000n), price(1_000_000n)]],
    ['the highest of two', 5000n + 20_000n, [limit(200_000n), price(100_000n), price(1n), limit(1n)]],
    ['heap and data size cost nothing', 5000n, [budget(1, 4, 32_768n), budget(4, 4, 9n)]],
    ['too short to be one', 5000n, [{ program: COMPUTE_BUDGET, accounts: [], data: [3, 1] }]],
    ['signatures that programs check', 5000n * 256n, [checks('Ed25519SigVerify111111111111111111111111111', 255)]],
    [
      'of each kind',
      5000n * 4n,
      [
        'KeccakSecp256k11111111111111111111111111111',
        'Secp256r1SigVerify1111111111111111111111111',
        'Ed25519SigVerify111111111111111111111111111',
      ].map((program) => checks(program, 1)),
    ],
  ] as const)('%s', (_name, fee, instructions) => {
    expect(feeOf(instructions)).toBe(fee);
  });

  test('each signer signs once', () => {
    expect(feeOf([], [ALICE, BOB])).toBe(10_000n);
  });
});
