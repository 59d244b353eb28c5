import { describe, expect, test } from 'vitest';
import { contextOf, STRANGER, SUPPLIER } from '../../test/fixtures/sentences.ts';
import { callsSentence } from './chains/evm.ts';
import { Lookup } from './lookup.ts';
import { type NameKind, type NameSource, nameSource, type PaymentRecord, paymentKey } from './names.ts';

/** A source of payments in which every address is a look-alike, and that says how many it was asked for. */
function alikes() {
  const asked: string[] = [];
  const source = nameSource('payment', async (_context, keys) => {
    asked.push(...keys);
    return new Map(keys.map((key): [string, PaymentRecord] => [key, { count: 0, alike: { address: SUPPLIER } }]));
  });
  return { asked, sources: new Map<NameKind, NameSource>([['payment', source]]) };
}
const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;

describe('what is looked up', () => {
  test('is limited for each request, so that none uses up what is for the others', async () => {
    const lookup = new Lookup();
    const { asked, sources } = alikes();
    const [hostile, other] = [lookup.forRequest(), lookup.forRequest()];
    for (let number = 0; number < 3_000; number += 1) hostile.get('payment', paymentKey('eip155:1', addressOf(number)));
    other.get('payment', paymentKey('eip155:1', STRANGER));
    expect(await lookup.load({} as never, sources)).toBe(true);
    expect(asked).toHaveLength(401);
    expect(other.get('payment', paymentKey('eip155:1', STRANGER))).toMatchObject({ alike: { address: SUPPLIER } });
    expect(hostile.get('payment', paymentKey('eip155:1', addressOf(399)))).toBeDefined();
    expect(hostile.get('payment', paymentKey('eip155:1', addressOf(400)))).toBeUndefined();
    expect(await lookup.load({} as never, sources)).toBe(false);
  });

  test('is limited for all requests of an answer together', async () => {
    const lookup = new Lookup();
    const { asked, sources } = alikes();
    for (let request = 0; request < 10; request += 1) {
      const names = lookup.forRequest();
      for (let number = 0; number < 400; number += 1) {
        names.get('payment', paymentKey('eip155:1', addressOf(request * 1_000 + number)));
      }
    }
    await lookup.load({} as never, sources);
    expect(asked).toHaveLength(2_000);
  });
});

test('somebody who was not looked up is dangerous to pay, or to give a right', () => {
  const names = { get: () => undefined };
  const context = { ...contextOf(), names };
  const from = addressOf(1);
  const paid = callsSentence(context, 'eip155:1', from, [{ to: STRANGER, value: 1n, data: '0x' }]);
  expect(paid.marks).toEqual([{ risk: 'DANGER', text: 'not compared with the addresses known here' }]);
  expect(paid.parts.map(({ text }) => text).join('')).toContain(
    ', which was not looked up among the addresses known here',
  );
  expect(paid.fields).toContainEqual(expect.objectContaining({ label: 'To', note: 'not looked up' }));
});
