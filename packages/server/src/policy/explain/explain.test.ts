import { describe, expect, it } from 'vitest';
import { textOf } from '../../lib/text-part.ts';
import { decide } from '../decision/decide.ts';
import type { DecisionInput } from '../decision/decision.ts';
import type { PolicyEvaluation } from '../decision/outcome.ts';
import { type Policy, preparePolicies } from '../decision/policy-set.ts';
import { createExpressionCache } from '../evaluate/expression-cache.ts';
import { hexText, uintValue } from '../evaluate/values.ts';
import type { EthereumTransactionFacts } from '../language/structs.ts';
import { type Names, NO_NAMES } from '../words/names.ts';
import { explainDecision, explainVote } from './decision.ts';
import { explainEvaluation } from './explain.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const KESTREL = '0x1bd2e66f0a934c7d58e1b02ca7f3196d5e8890c4';
const PAYROLL = '01a1dee6-cad2-7e2a-be86-52ef109dc997';
const OPS = '11111111-1111-4111-8111-111111111111';
const MEI = '22222222-2222-4222-8222-222222222222';

const names: Names = {
  thing: (id) =>
    ({
      [PAYROLL]: { kind: 'wallet', name: 'Payroll' } as const,
      [OPS]: { kind: 'tag', name: 'Ops' } as const,
      [MEI]: { kind: 'user', name: 'Mei' } as const,
    })[id],
  address: (address) => (address.toLowerCase() === KESTREL ? 'Kestrel Ltd' : undefined),
  chain: (caip2) => ({ 'eip155:1': 'Ethereum', 'eip155:8453': 'Base' })[caip2],
  coin: (caip2) => (caip2 === 'eip155:1' ? { symbol: 'ETH', decimals: 18 } : undefined),
  token: (caip2, address) => (caip2 === 'eip155:1' && address === USDC ? { symbol: 'USDC', decimals: 6 } : undefined),
};

const tx = (extra: Partial<EthereumTransactionFacts> = {}): EthereumTransactionFacts => ({
  from: '0x',
  to: USDC,
  data: '0xa9059cbb',
  value: 0n,
  gas: 21_000n,
  gas_price: 0n,
  chain_id: 1n,
  nonce: 0n,
  max_fee_per_gas: 0n,
  max_priority_fee_per_gas: 0n,
  max_fee_per_blob_gas: 0n,
  type: '2',
  function_name: 'transfer',
  function_signature: '0xa9059cbb',
  contract_call_args: new Map<string, ReturnType<typeof uintValue> | ReturnType<typeof hexText>>([
    ['to', hexText(KESTREL)],
    ['amount', uintValue(5_000_000_000n)],
  ]),
  ...extra,
});

const FRIDAY_EVENING = Date.parse('2026-11-13T17:42:00Z');

const inputOf = (policies: readonly Policy[], facts: EthereumTransactionFacts, nowMs: number): DecisionInput => ({
  organization: { id: 'org', rootThreshold: 1, rootUserIds: ['root'] },
  activity: {
    governedBy: 'policy',
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
    elements: [{ eth: { tx: facts }, wallet: { id: PAYROLL, imported: false, exported: false, label: 'Payroll' } }],
  },
  policies: preparePolicies(policies, createExpressionCache()),
  members: [{ id: MEI, tags: [OPS], email: '', alias: '', credentials: [] }],
  approvals: [
    {
      userId: MEI,
      credential: { id: 'c', user_id: MEI, type: 'CREDENTIAL_TYPE_API_KEY_P256', credential_id: '', public_key: '' },
    },
  ],
  phase: 'SUBMISSION',
  nowMs,
});

const evaluationOf = (policy: Omit<Policy, 'id'>, facts = tx(), nowMs = FRIDAY_EVENING): PolicyEvaluation => {
  const decision = decide(inputOf([{ id: 'p', name: 'Ops pay suppliers', ...policy }], facts, nowMs), {
    trace: true,
    listAll: true,
  });
  // As it is stored and read again.
  return JSON.parse(JSON.stringify(decision.evaluations[0])) as PolicyEvaluation;
};

const explained = (policy: Omit<Policy, 'id'>, facts = tx(), nowMs = FRIDAY_EVENING) =>
  explainEvaluation(evaluationOf(policy, facts, nowMs), {
    names,
    atMs: nowMs,
    approvers: [{ id: MEI, name: 'Mei', tags: [OPS] }],
  });

const CONDITION = `activity.kind == 'SIGN_TRANSACTION'
  && wallet.id == '${PAYROLL}'
  && eth.tx.chain_id == 1
  && eth.tx.to == '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
  && eth.tx.function_name == 'transfer'
  && eth.tx.contract_call_args['amount'] <= 1000000000`;

describe('explainEvaluation', () => {
  it('says by how much a token payment is too large, and what would pass', () => {
    const { sentence, parts, whatWouldPass } = explained({ effect: 'EFFECT_ALLOW', condition: CONDITION });
    expect(textOf(sentence)).toBe('Amount 5,000\u00a0USDC is above the limit of 1,000\u00a0USDC.');
    expect(whatWouldPass).toBe('an amount of at most 1,000\u00a0USDC');
    expect(parts).toEqual([
      { text: 'kind is “sign a transaction”', holds: true, depth: 0 },
      { text: 'wallet is Payroll', holds: true, depth: 0 },
      { text: 'chain is Ethereum', holds: true, depth: 0 },
      { text: 'contract is USDC', holds: true, depth: 0 },
      { text: 'function is transfer', holds: true, depth: 0 },
      { text: 'amount ≤ 1,000\u00a0USDC', holds: false, decides: true, depth: 0 },
    ]);
  });

  it('writes wei as ETH and names recipients, chains and lists', () => {
    const facts = tx({ to: KESTREL, value: 20_000_000_000_000_000n, chain_id: 8453n });
    const said = (condition: string) => {
      const { sentence, whatWouldPass } = explained({ effect: 'EFFECT_ALLOW', condition }, facts);
      return [textOf(sentence), whatWouldPass];
    };
    expect(said('eth.tx.value <= 10000000000000000')).toEqual([
      'Amount 0.02\u00a0ETH is above the limit of 0.01\u00a0ETH.',
      'an amount of at most 0.01\u00a0ETH',
    ]);
    expect(said('eth.tx.chain_id == 1')).toEqual(['Chain is Base, not Ethereum.', 'the chain Ethereum']);
    expect(said(`eth.tx.to in ['${USDC}']`)[0]).toBe('Recipient is Kestrel Ltd, not 0xa0b869…06eb48.');
    const four = [1, 2, 3, 4].map((digit) => `'0x${String(digit).repeat(40)}'`).join(', ');
    expect(said(`eth.tx.to in [${four}]`)).toEqual([
      'Recipient Kestrel Ltd is not one of 4 addresses.',
      'a recipient that is one of 4 addresses',
    ]);
    // The coin of a chain that nobody here knows is not called ether.
    expect(said('eth.tx.chain_id == 8453 && eth.tx.value <= 10')[0]).toBe(
      'Amount 20000000000000000 of the smallest unit is above the limit of 10 of the smallest unit.',
    );
  });

  it('promises nothing where several parts fail and one is code', () => {
    const { sentence, whatWouldPass } = explained({
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.chain_id == 10 && eth.tx.data[0..4] == '0xff'`,
    });
    expect(textOf(sentence)).toBe('Chain is Ethereum, not chain 10. 1 more part does not hold.');
    expect(whatWouldPass).toBeUndefined();
  });

  it('tells the time of a denial, and when it ends', () => {
    const { sentence, parts, whatWouldPass } = explained({
      effect: 'EFFECT_DENY',
      condition: `activity.kind == 'SIGN_TRANSACTION'`,
      time: `CronSpan('0 18 * * 1-4', '14h', 'Europe/Berlin') || CronSpan('0 18 * * 5', '62h', 'Europe/Berlin')`,
    });
    expect(textOf(sentence)).toMatch(/^It was Friday 18:42 in Berlin\. It denies while /);
    expect(whatWouldPass).toBe('the same request after 08:00 on Monday');
    expect(parts[0]?.holds).toBe(true);
  });

  it('tells when a policy applies that does not now', () => {
    const { sentence, whatWouldPass } = explained({
      effect: 'EFFECT_ALLOW',
      time: `CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')`,
    });
    expect(textOf(sentence)).toBe(
      'It was Friday 18:42 in Berlin. It applies only while time is within Monday to Friday, 09:00 to 17:00, Europe/Berlin.',
    );
    expect(whatWouldPass).toBe('the same request after 09:00 on Monday');
  });

  it('says what would get past a denial', () => {
    const { sentence, whatWouldPass } = explained(
      { effect: 'EFFECT_DENY', condition: 'eth.tx.value > 10000000000000000' },
      tx({ value: 20_000_000_000_000_000n }),
    );
    expect(textOf(sentence)).toBe('Amount 0.02\u00a0ETH is above 0.01\u00a0ETH.');
    expect(whatWouldPass).toBe('an amount of at most 0.01\u00a0ETH');
  });

  it('names those who made a consensus true', () => {
    const { sentence, parts } = explained({
      effect: 'EFFECT_ALLOW',
      condition: 'eth.tx.chain_id == 1',
      consensus: `approvers.any(user, user.tags.contains('${OPS}'))`,
    });
    expect(textOf(sentence)).toBe('Its condition holds, and its approvals are complete.');
    expect(parts.at(-1)).toEqual({ text: 'one approver is tagged Ops: Mei', holds: true, depth: 0 });
  });

  it('says whose approval is awaited', () => {
    const { sentence, whatWouldPass } = explained({
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${MEI}') && approvers.count() >= 2`,
    });
    expect(textOf(sentence)).toContain('at least two approvers');
    expect([undefined, 'at least two approvals']).toContain(whatWouldPass);
  });

  it('says what the request lacks', () => {
    const { sentence, parts } = explained({
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.contract_call_args['receiver'] == '0x1'`,
    });
    expect(textOf(sentence)).toMatch(/receiver.*An allow without an answer does not allow\.$/);
    expect(parts[0]).toMatchObject({ holds: null, decides: true });
  });

  it('stays bounded on a hostile tree', () => {
    const condition = Array.from({ length: 400 }, (_, index) => `eth.tx.nonce != ${index + 1}`).join(' && ');
    const { parts } = explained({ effect: 'EFFECT_ALLOW', condition });
    expect(parts.length).toBeLessThanOrEqual(61);
    expect(parts.at(-1)?.text).toMatch(/more part/);
  });

  it('has words without any name', () => {
    const evaluation = evaluationOf({ effect: 'EFFECT_ALLOW', condition: CONDITION });
    const { sentence } = explainEvaluation(evaluation, { names: NO_NAMES, atMs: 0 });
    expect(textOf(sentence)).toBe('Argument “amount” 5000000000 is above the limit of 1000000000.');
  });
});

describe('the whole decision', () => {
  const allow: Policy = { id: 'a', name: 'Ops pay suppliers', effect: 'EFFECT_ALLOW', condition: CONDITION };
  const deny: Policy = {
    id: 'd',
    name: 'Small only',
    effect: 'EFFECT_DENY',
    condition: `eth.tx.contract_call_args['amount'] > 1`,
  };
  const whole = (policies: readonly Policy[]) => {
    const decision = decide(inputOf(policies, tx(), FRIDAY_EVENING), { trace: true, listAll: true });
    const all = decision.evaluations.map((evaluation) => ({
      evaluation,
      explanation: explainEvaluation(evaluation, { names, atMs: FRIDAY_EVENING }),
    }));
    return {
      decided: explainDecision({ decision, explained: all, missingRootNames: [] }),
      voted: explainVote(all, false),
    };
  };

  it('names the nearest policy when none allows', () => {
    const { decided, voted } = whole([allow]);
    expect(textOf(decided.sentence)).toBe(
      'No policy allows it. The nearest is Ops pay suppliers: Amount 5,000\u00a0USDC is above the limit of 1,000\u00a0USDC.',
    );
    expect(decided.whatWouldPass).toBe('an amount of at most 1,000\u00a0USDC, by Ops pay suppliers');
    expect(voted).toEqual(decided);
  });

  it('lets a denial win', () => {
    const { decided, voted } = whole([allow, deny]);
    expect(textOf(decided.sentence)).toMatch(/^Denied by Small only: /);
    expect(voted).toEqual(decided);
  });
});
