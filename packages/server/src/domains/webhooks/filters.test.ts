import { describe, expect, test } from 'vitest';
import { checkFilters, passes } from './filters.ts';
import type { WebhookEventType } from './model.ts';

const ORGANIZATION = '0f8fad5b-d9cb-469f-a165-70867728950e';
const check = (type: WebhookEventType, filters: unknown) => () =>
  checkFilters(
    type,
    typeof filters === 'string' ? filters : JSON.stringify(filters),
    'parameters.subscriptions.0.filtersJson',
  );

describe('filters that are accepted', () => {
  test.each([
    ['ACTIVITY_UPDATES', {}],
    ['ACTIVITY_UPDATES', { activityTypes: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'] }],
    ['ACTIVITY_UPDATES', { statuses: ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_FAILED'] }],
    ['ACTIVITY_UPDATES', { organizationIds: [ORGANIZATION] }],
    ['BALANCE_CONFIRMED_UPDATES', { addresses: ['0xAbC'], caip2: ['eip155:1'] }],
    ['BALANCE_FINALIZED_UPDATES', { caip2: ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'] }],
    ['SEND_TRANSACTION_STATUS_UPDATES', { statuses: ['FAILED'] }],
  ] as const)('%s %j', (type, filters) => {
    expect(check(type, filters)).not.toThrow();
  });
});

describe('filters that could never mean what was wanted', () => {
  test.each([
    ['ACTIVITY_UPDATES', 'no JSON'],
    ['ACTIVITY_UPDATES', []],
    ['ACTIVITY_UPDATES', 'null'],
    ['ACTIVITY_UPDATES', { activityType: ['ACTIVITY_TYPE_CREATE_WALLET'] }],
    ['ACTIVITY_UPDATES', { toString: ['x'] }],
    ['ACTIVITY_UPDATES', '{"__proto__":["x"]}'],
    ['ACTIVITY_UPDATES', { activityTypes: ['ACTIVITY_TYPE_CREATE_WALET'] }],
    ['ACTIVITY_UPDATES', { activityTypes: 'ACTIVITY_TYPE_CREATE_WALLET' }],
    ['ACTIVITY_UPDATES', '{"statuses":["ACTIVITY_STATUS_FAILED"],"statuses":["ACTIVITY_STATUS_COMPLETED"]}'],
    ['ACTIVITY_UPDATES', { activityTypes: [] }],
    ['ACTIVITY_UPDATES', { activityTypes: [7] }],
    ['ACTIVITY_UPDATES', { statuses: ['COMPLETED'] }],
    ['ACTIVITY_UPDATES', { organizationIds: ['all'] }],
    ['ACTIVITY_UPDATES', { organizationIds: Array.from({ length: 101 }, () => ORGANIZATION) }],
    ['ACTIVITY_UPDATES', { addresses: ['0xabc'] }],
    ['BALANCE_CONFIRMED_UPDATES', { caip2: ['ethereum'] }],
    ['BALANCE_CONFIRMED_UPDATES', { statuses: ['FAILED'] }],
  ] as const)('%s %j', (type, filters) => {
    expect(check(type, filters)).toThrow(expect.objectContaining({ code: 'INVALID_WEBHOOK_FILTER' }));
  });
});

describe('what passes', () => {
  const facts = { activityTypes: 'A', statuses: 'S', organizationIds: 'O' };

  test.each([
    [undefined, true],
    ['', true],
    ['{}', true],
    ['{"activityTypes":["B","A"]}', true],
    ['{"activityTypes":["B"]}', false],
    ['{"activityTypes":["A"],"statuses":["S"]}', true],
    ['{"activityTypes":["A"],"statuses":["T"]}', false],
    ['{"caip2":["eip155:1"]}', false],
  ])('%s: %s', (filters, expected) => {
    expect(passes(filters, facts)).toBe(expected);
  });

  test('an address of Ethereum in any spelling', () => {
    expect(passes('{"addresses":["0xAB"]}', { addresses: '0xab' })).toBe(true);
    expect(passes('{"addresses":["AB"]}', { addresses: 'ab' })).toBe(false);
  });
});
