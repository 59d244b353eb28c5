import { readFileSync } from 'node:fs';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { readTransactionDetails } from '../../../src/chains/solana/node/solana-answers.ts';
import { executionError } from '../../../src/chains/solana/send/errors.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../../${path}`, import.meta.url), 'utf8');
const ABSENT = [
  'forceDeallocatableLiquidity',
  'forceDeallocatableLiquidityDisplay',
  'provisioningState',
  'deliveryDelayType',
];

describe('optional fields of the protocol', () => {
  test.each(ABSENT)('%s is in no answer, and the reference says so', (name) => {
    expect(read('openapi.json')).not.toContain(`"${name}"`);
    expect(read('docs/reference/not-served.md')).toContain(`\`${name}\``);
  });

  const signature = base58.encode(Buffer.alloc(64, 7));
  const failed = (innerInstructions: unknown) =>
    executionError(
      'InsufficientFundsForFee',
      readTransactionDetails(
        {
          slot: 5,
          transaction: { signatures: [signature] },
          meta: { err: 'InsufficientFundsForFee', fee: 5000, logMessages: [], innerInstructions },
        },
        signature,
      ),
    );

  test('innerInstructionsJson is what the node told, and absent where it told nothing or too much', () => {
    const inner = [{ index: 0, instructions: [{ programIdIndex: 2, accounts: [0, 1], data: '3Bxs' }] }];
    expect(JSON.parse(failed(inner).solana?.innerInstructionsJson ?? '')).toEqual(inner);
    for (const none of [undefined, null, [], [{ index: 0, data: 'x'.repeat(100_000) }]]) {
      expect(failed(none).solana).not.toHaveProperty('innerInstructionsJson');
    }
    expect(read('openapi.json')).toContain('"innerInstructionsJson"');
  });
});
