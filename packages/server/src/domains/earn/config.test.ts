import { describe, expect, test } from 'vitest';
import { earnConfigOf } from './config.ts';

const NONE = { serviceFeeBps: 0, serviceFeeWallet: undefined, minTvlUsd: undefined };
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('the value of FEATURE_NAME_EARN_CONFIG', () => {
  test.each([undefined, '', '{}', '{"serviceFeeBps":0}'])('%j sets nothing', (value) => {
    expect(earnConfigOf(value)).toEqual(NONE);
  });

  test('a fee has a wallet, and numbers may be text', () => {
    expect(earnConfigOf(JSON.stringify({ serviceFeeBps: 1000, serviceFeeWallet: WALLET, minTvlUsd: 100000 }))).toEqual({
      serviceFeeBps: 1000,
      serviceFeeWallet: WALLET.toLowerCase(),
      minTvlUsd: '100000',
    });
    expect(earnConfigOf('{"minTvlUsd":"0.5"}')).toEqual({ ...NONE, minTvlUsd: '0.5' });
  });

  test.each([
    ['text', 'JSON object'],
    ['[1]', 'JSON object'],
    ['null', 'JSON object'],
    ['{"serviceFeeBps":1}', 'serviceFeeWallet'],
    [`{"serviceFeeBps":1001,"serviceFeeWallet":"${WALLET}"}`, 'at most 1000'],
    [`{"serviceFeeBps":-1,"serviceFeeWallet":"${WALLET}"}`, 'serviceFeeBps'],
    [`{"serviceFeeBps":1.5,"serviceFeeWallet":"${WALLET}"}`, 'serviceFeeBps'],
    ['{"serviceFeeWallet":"0x12"}', 'serviceFeeWallet'],
    [`{"serviceFeeBps":1,"serviceFeeWallet":"0x${'0'.repeat(40)}"}`, 'zero address'],
    [`{"serviceFeeWallet":"0x${'0'.repeat(40)}"}`, 'zero address'],
    ['{"minTvlUsd":"1e5"}', 'minTvlUsd'],
    ['{"minTvlUsd":"-1"}', 'minTvlUsd'],
    ['{"minTvl":"1"}', '"minTvl"'],
    ['{"__proto__":"1"}', '"__proto__"'],
  ])('%s is refused', (value, reason) => {
    expect(() => earnConfigOf(value)).toThrow(
      expect.objectContaining({ code: 'INVALID_FEATURE_VALUE', message: expect.stringContaining(reason) }),
    );
  });
});
