import { describe, expect, test } from 'vitest';
import { contextOf, describeRequest, interfaceOf, TREASURY, USDC } from '../../test/fixtures/sentences.ts';
import { sentenceOf, toDescription } from './description.ts';
import { worst } from './risk.ts';
import { cut, listOf, say, showInvisible, textOf } from './text.ts';
import { amountText, decimalText, durationText, looksOf, shortAddress } from './values.ts';

describe('text that somebody wrote', () => {
  const named = (walletName: string) => describeRequest('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts: [] });

  test('is marked as theirs and never read as words of the service', () => {
    const told = named('<script>alert(1)</script> to Ada for 1 ETH');
    expect(told.sentence).toContainEqual({
      text: '<script>alert(1)</script> to Ada for 1 ETH',
      strong: true,
      userText: true,
    });
  });

  test('cannot turn the sentence around or hide in it', () => {
    expect(named('Safe\u202eyrusaerT\u2066').text).toBe('Create wallet Safe[U+202E]yrusaerT[U+2066] with 0 accounts.');
    expect(named('Trea\u200bsury').text).toContain('Trea[U+200B]sury');
    expect(named('a\nb\u2028c\u0000').text).toContain('a[U+000A]b[U+2028]c[U+0000]');
    expect(named('\u3164').text).toContain('[U+3164]');
    expect(named('A\u00a0B').text).toContain('A[U+00A0]B');
    expect(showInvisible('Tomás, 東京, naïve 👍')).toBe('Tomás, 東京, naïve 👍');
  });

  test('is bounded, whole characters at a time', () => {
    const told = named('x'.repeat(10_000));
    expect(told.text.length).toBeLessThan(200);
    expect(told.text).toContain('…');
    expect(cut('👍'.repeat(200), 3)).toBe('👍👍👍…');
    expect(JSON.stringify(told).length).toBeLessThan(4_000);
  });

  test('in lists ends with how many more there are', () => {
    expect(textOf(listOf(['a', 'b']))).toBe('a and b');
    expect(textOf(listOf(['a', 'b', 'c', 'd', 'e', 'f', 'g']))).toBe('a, b, c, d and 3 more');
    expect(textOf(say`x${listOf([])}`)).toBe('x');
  });

  test('of a contract interface cannot pass for a standard call', () => {
    const impostor = {
      name: 'harmless',
      inputs: [
        { name: 'a', type: 'address' },
        { name: 'b', type: 'uint256' },
      ],
    };
    const address = '0x4444444444444444444444444444444444444444';
    const data = `0x095ea7b3${'0'.repeat(24)}${TREASURY.slice(2)}${'f'.repeat(64)}`;
    const record = interfaceOf(address, 'USDC', [impostor]);
    const [entry] = Object.values(record);
    // Four bytes can be made to collide; here the map says so.
    const functions = new Map([['0x095ea7b3', [...(entry?.contract.functions.values() ?? [])][0]]]);
    const known = {
      contractInterface: {
        [Object.keys(record)[0] as string]: { ...entry, contract: { ...entry?.contract, functions } },
      },
    };
    const told = describeRequest(
      'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
      { from: TREASURY, caip2: 'eip155:1', calls: [{ to: address, data }] },
      { known: known as never },
    );
    expect(told).toMatchObject({ risk: 'UNREADABLE', marks: [{ text: expect.stringContaining('harmless') }] });
  });
});

describe('amounts', () => {
  test('are exact', () => {
    expect(decimalText(1n, 18)).toBe('0.000000000000000001');
    expect(decimalText(1_234_567_890_000_000n, 6)).toBe('1,234,567,890');
    expect(decimalText(1_234_567_890_100_000n, 6)).toBe('1,234,567,890.1');
    expect(decimalText(0n, 0)).toBe('0');
    expect(decimalText(-1_500n, 3)).toBe('-1.5');
    expect(amountText(12_500_000_000n, { symbol: 'USDC', decimals: 6 })).toBe('12,500\u00a0USDC');
  });

  test('of tokens whose decimals nobody knows are in the smallest unit', () => {
    const token = '0x4444444444444444444444444444444444444444';
    const approve = {
      name: 'approve',
      inputs: [
        { name: 's', type: 'address' },
        { name: 'v', type: 'uint256' },
      ],
    };
    const call = (value: string) =>
      describeRequest(
        'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
        {
          from: TREASURY,
          caip2: 'eip155:1',
          calls: [{ to: token, data: `0x095ea7b3${'0'.repeat(24)}${USDC.slice(2)}${value.padStart(64, '0')}` }],
        },
        { known: { contractInterface: interfaceOf(token, 'Coin', [approve]) } },
      );
    expect(call('f4240').text).toBe(
      'Let USDC spend up to 1000000 of the smallest unit of Coin of Treasury on Ethereum, at any time.',
    );
    expect(call('f'.repeat(64))).toMatchObject({
      text: 'Let USDC spend unlimited Coin of Treasury on Ethereum, until taken back.',
      risk: 'DANGER',
    });
    // Permit2 counts in 160 bits.
    expect(call('f'.repeat(40)).risk).toBe('DANGER');
  });
});

test('addresses are compared by what people look at', () => {
  expect(shortAddress(USDC)).toBe('0xA0b869…06eB48');
  expect(looksOf('0x7a9c31e0b2d54ff6a8c3d9017e5b6c2a48d841fe')).toBe('7a9c41fe');
  expect(looksOf('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBe('w508f3t4');
  expect(looksOf('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')).toBe('JRabRTv8');
  expect(looksOf('short')).toBeUndefined();
});

test('durations are in the largest unit that is exact', () => {
  expect([900, 3_600, 90, 86_400].map(durationText)).toEqual(['15 minutes', '1 hour', '90 seconds', '1 day']);
});

test('the worst of several elements counts', () => {
  expect(worst()).toBe('ROUTINE');
  expect(worst('LOOK_CLOSELY', 'ROUTINE')).toBe('LOOK_CLOSELY');
  expect(worst('DANGER', 'UNREADABLE', 'LOOK_CLOSELY')).toBe('UNREADABLE');
});

describe('what is missing', () => {
  const told = (type: string, parameters: unknown, name?: string) => {
    const operation =
      name === undefined
        ? undefined
        : {
            name,
            sentence: () => {
              throw new TypeError('no');
            },
          };
    const subject = { type, operation, parameters };
    return toDescription(subject, sentenceOf(subject, contextOf()), false);
  };

  test('25: a type without a template', () => {
    expect(told('ACTIVITY_TYPE_CREATE_TVC_APP', { name: 'x' })).toMatchObject({
      text: 'CREATE_TVC_APP: this console has no sentence for it. Read its fields.',
      risk: 'LOOK_CLOSELY',
      fields: [{ label: 'Name', value: [{ text: 'x', userText: true }] }],
    });
  });

  test('a body that was not kept is said to be missing', () => {
    const omitted = { omittedBody: { bytes: 5_316, sha256: 'ab' } };
    expect(told('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', omitted, 'sign_transaction')).toMatchObject({
      text: expect.stringContaining('5,316 bytes only the digest was kept'),
      risk: 'UNREADABLE',
    });
  });

  test('digests in the place of what a template reads do not make it fail', () => {
    expect(told('ACTIVITY_TYPE_OTP_LOGIN', { x: 'sha256:ab' }, 'otp_login')).toMatchObject({ risk: 'UNREADABLE' });
  });
});
