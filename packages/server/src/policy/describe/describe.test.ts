import { describe, expect, it } from 'vitest';
import type { Names } from '../words/names.ts';
import { describePolicy } from './describe.ts';
import type { Draft } from './description.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const PAYROLL = '01a1dee6-cad2-7e2a-be86-52ef109dc997';
const OPS = '11111111-1111-4111-8111-111111111111';
const MEI = '22222222-2222-4222-8222-222222222222';
const NOBODY = '33333333-3333-4333-8333-333333333333';

const names: Names = {
  thing: (id) =>
    ({
      [PAYROLL]: { kind: 'wallet', name: 'Payroll' } as const,
      [OPS]: { kind: 'tag', name: 'Ops' } as const,
      [MEI]: { kind: 'user', name: 'Mei' } as const,
    })[id],
  address: () => undefined,
  chain: (caip2) => (caip2 === 'eip155:1' ? 'Ethereum' : undefined),
  coin: (caip2) => (caip2 === 'eip155:1' ? { symbol: 'ETH', decimals: 18 } : undefined),
  token: (caip2, address) =>
    caip2 === 'eip155:1' && address === USDC.toLowerCase() ? { symbol: 'USDC', decimals: 6 } : undefined,
};

const described = (draft: Partial<Draft>) => describePolicy({ effect: 'EFFECT_ALLOW', ...draft }, { names });
const said = (draft: Partial<Draft>) => described(draft).text.replaceAll('\u00a0', ' ');
const codesOf = (draft: Partial<Draft>) => described(draft).warnings.map(({ code }) => code);

const PAYMENT = `activity.kind == 'SIGN_TRANSACTION'
&& wallet.id == '${PAYROLL}'
&& eth.tx.chain_id == 1
&& eth.tx.to == '${USDC}'
&& eth.tx.function_name == 'transfer'
&& eth.tx.contract_call_args['amount'] <= 5000000000`;
const BY_OPS = `approvers.any(user, user.tags.contains('${OPS}'))`;

describe('describePolicy', () => {
  it('says a token payment in one sentence', () => {
    const { sentence, risk, warnings, marks } = described({ condition: PAYMENT, consensus: BY_OPS });
    expect(said({ condition: PAYMENT, consensus: BY_OPS })).toBe(
      'Anyone tagged Ops may send up to 5,000 USDC a payment from Payroll to any address on Ethereum, alone.',
    );
    expect(sentence.filter((part) => part.strong).map((part) => part.text)).toEqual([
      'Ops',
      '5,000\u00a0USDC',
      'Payroll',
      'any address',
      'Ethereum',
    ]);
    expect(risk).toBe('LOOK_CLOSELY');
    expect(warnings.map(({ code }) => code)).toEqual(['ANY_RECIPIENT']);
    const marked = (text: string, from: string) =>
      marks.filter((mark) => from.slice(mark.start, mark.end).includes(text)).map((mark) => mark.text);
    expect(marked(PAYROLL, PAYMENT)).toEqual(['Payroll']);
    expect(marked(USDC, PAYMENT)).toEqual(['USDC']);
    expect(marked('5000000000', PAYMENT)).toEqual(['5,000\u00a0USDC']);
    expect(marks.filter(({ expression }) => expression === 'consensus').map(({ text }) => text)).toEqual(['Ops']);
  });

  it.each<[string, Partial<Draft>, string]>([
    ['everything', {}, 'Anyone may do all that a policy can allow, alone.'],
    [
      'a kind',
      { condition: "activity.kind == 'CREATE_API_KEYS'", consensus: `approvers.any(u, u.id == '${MEI}')` },
      'Mei may create API keys, alone.',
    ],
    [
      'a denial',
      {
        effect: 'EFFECT_DENY',
        condition: "activity.resource == 'CREDENTIAL' && activity.action == 'DELETE'",
        consensus: BY_OPS,
      },
      'Nobody tagged Ops may delete credentials.',
    ],
    [
      'plain payments',
      {
        condition: `eth.tx.chain_id == 1 && eth.tx.value <= 10000000000000000 && eth.tx.data == '0x'`,
        consensus: 'approvers.count() >= 2',
      },
      'Anyone may send up to 0.01 ETH a payment to any address on Ethereum, with approvals: at least two approvers.',
    ],
    [
      'transactions that may call anything',
      { condition: `eth.tx.chain_id == 1 && eth.tx.value < 10` },
      'Anyone may sign or send transactions of up to 0.000000000000000009 ETH each to any address on Ethereum, alone.',
    ],
    [
      'what has no words',
      { condition: `activity.kind == 'SIGN_TRANSACTION' && eth.tx.data[0..4] == '0xa9'`, consensus: BY_OPS },
      "Anyone tagged Ops may sign transactions to any address, alone, under further conditions: `eth.tx.data[0..4] == '0xa9'`.",
    ],
    [
      'alternatives',
      {
        condition: `activity.kind == 'SIGN_TRANSACTION' && (eth.tx.chain_id == 1 || eth.tx.nonce == 3)`,
        consensus: BY_OPS,
      },
      'Anyone tagged Ops may sign transactions to any address, if chain is Ethereum or nonce is 3, alone.',
    ],
    [
      'a time',
      {
        condition: "activity.kind == 'CREATE_WALLET'",
        consensus: BY_OPS,
        time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')",
      },
      'Anyone tagged Ops may create a wallet, alone, only while time is within Monday to Friday, 09:00 to 17:00, Europe/Berlin.',
    ],
    [
      'an order that contradicts a list is not hidden',
      { condition: "activity.kind == 'CREATE_WALLET' && activity.kind == 'SIGN_TRANSACTION'", consensus: BY_OPS },
      'Anyone tagged Ops may do all that a policy can allow, if kind is “create a wallet” and kind is “sign a transaction”, alone.',
    ],
  ])('%s', (_what, draft, sentence) => {
    expect(said(draft)).toBe(sentence);
  });

  it('rates what is wide', () => {
    expect(described({}).risk).toBe('DANGER');
    expect(codesOf({})).toEqual(['NO_CONDITION', 'NO_CONSENSUS']);
    expect(described({ consensus: BY_OPS }).risk).toBe('LOOK_CLOSELY');
    expect(described({ condition: "activity.kind == 'CREATE_WALLET'", consensus: BY_OPS }).risk).toBe('ROUTINE');
    expect(described({ effect: 'EFFECT_DENY' }).risk).toBe('ROUTINE');
  });

  it('names the nearest field of one that does not exist', () => {
    const condition = "activity.kind == 'SIGN_TRANSACTION'\n&& eth.tx.valu";
    const { errors, risk, text } = described({ condition });
    expect(errors).toEqual([
      {
        expression: 'condition',
        code: 'E_UNKNOWN_FIELD',
        message: expect.any(String),
        start: 46,
        end: 50,
        suggestion: 'value',
      },
    ]);
    expect(condition.slice(46, 50)).toBe('valu');
    expect(risk).toBe('UNREADABLE');
    expect(text).toBe('Anyone may do something, alone, under a condition that cannot be read.');
    expect(described({ condition: "activty.kind == 'A'" }).errors[0]?.suggestion).toBe('activity');
    expect(described({ consensus: 'approvers.cuont() > 1' }).errors[0]?.suggestion).toBe('count');
    expect(described({ time: "CronSpam('0 9 * * 1-5', '8h', 'UTC')" }).errors[0]?.suggestion).toBe('CronSpan');
  });

  it('warns about an id that nothing has', () => {
    const consensus = `approvers.any(user, user.id == '${NOBODY}')`;
    expect(described({ condition: "activity.kind == 'CREATE_WALLET'", consensus }).warnings).toEqual([
      { code: 'UNKNOWN_ID', message: expect.stringContaining(NOBODY), expression: 'consensus', start: 31, end: 69 },
    ]);
  });

  it('stays short for a huge policy', () => {
    const condition = Array.from({ length: 900 }, (_, index) => `eth.tx.data[${index}] != '1'`).join(' && ');
    expect(described({ condition }).text.length).toBeLessThan(1_000);
  });
});
