import { expect, test } from 'vitest';
import { newHashBudget } from './ethereum/eip712-types.ts';
import { signingInput } from './payload.ts';

const document = (count: number): string =>
  JSON.stringify({
    types: { A: [{ name: 'a', type: 'string[]' }] },
    primaryType: 'A',
    domain: {},
    message: { a: Array(count).fill('') },
  });
const sign = (text: string, budget = newHashBudget()) =>
  signingInput(text, 'PAYLOAD_ENCODING_EIP712', 'HASH_FUNCTION_NO_OP', 'CURVE_SECP256K1', budget);

test('what all typed payloads of a request may cost together is bounded', () => {
  const budget = newHashBudget();
  const large = document(5000);
  expect(sign(large, budget)).toHaveLength(32);
  expect(() => sign(large, budget)).toThrow('too many values');
  expect(sign(large)).toHaveLength(32);
});
