import { type FeedEvent, OPERATIONS } from '@custos/sdk';
import { describe, expect, test } from 'vitest';
import { concernOf, isConcerned, together } from './concerns.ts';

const activity = (type: string, status = 'ACTIVITY_STATUS_COMPLETED'): FeedEvent =>
  ({
    kind: 'ACTIVITY',
    cursor: 'c',
    activityId: '1',
    type: `ACTIVITY_TYPE_${type}`,
    status,
    updatedAt: '',
  }) as FeedEvent;
const asked = (event: FeedEvent, ...methods: string[]): boolean[] =>
  methods.map((method) => isConcerned(concernOf(event), method));

describe('what news concern', () => {
  test('a request that only waits changes lists of requests, and no other page', () => {
    const event = activity('CREATE_WALLET', 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(asked(event, 'listApprovals', 'getApproval', 'listActivities')).toEqual([true, true, true]);
    expect(asked(event, 'listWallets', 'listUsers', 'getOperations')).toEqual([false, false, false]);
  });

  test.each([
    ['CREATE_WALLET', 'listWallets', 'listPolicies'],
    ['DELETE_POLICY', 'describePolicies', 'listWallets'],
    ['UPDATE_ROOT_QUORUM', 'getOrganizationConfigs', 'listSends'],
    ['SIGN_TRANSACTION_V2', 'listVelocityUsage', 'listUserSummaries'],
    ['ETH_SEND_TRANSACTION_V2', 'listSends', 'listPolicies'],
    ['CREATE_WEBHOOK_ENDPOINT', 'listWebhookEndpoints', 'listWallets'],
    ['CREATE_SUB_ORGANIZATION_V8', 'searchSubOrganizations', 'listSends'],
    ['CREATE_INVITATIONS', 'listInvitations', 'listSends'],
  ])('%s changes %s and not %s', (type, changed, other) => {
    expect(asked(activity(type), 'listApprovals', changed, other)).toEqual([true, true, false]);
  });

  test.each(['UPDATE_WALLET', 'UPDATE_ROOT_QUORUM', 'CREATE_POLICY_V3', 'ETH_SEND_TRANSACTION_V2'])(
    'after %s every sentence is read again',
    (type) => expect(asked(activity(type), 'describeActivity')).toEqual([true]),
  );

  test('sends and deliveries concern their own lists', () => {
    const send = { kind: 'SEND', cursor: 'c' } as FeedEvent;
    expect(asked(send, 'listSends', 'getWalletAddressBalances', 'listApprovals')).toEqual([true, true, false]);
    const delivery = { kind: 'WEBHOOK_DELIVERY', cursor: 'c' } as FeedEvent;
    expect(asked(delivery, 'listWebhookDeliveries', 'getWebhookStatistics', 'listWebhookEndpoints')).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('a gap, and whatever is new, concern everything', () => {
    expect(concernOf({ kind: 'GAP', cursor: 'c' })).toBe('everything');
    expect(concernOf({ kind: 'LATER', cursor: 'c' } as unknown as FeedEvent)).toBe('everything');
    expect(concernOf(activity('CREATE_MOON'))).toBe('everything');
  });

  test('every list that is shown has something that refreshes it', () => {
    const types = Object.values(OPERATIONS).flatMap((operation) => ('type' in operation ? [operation.type] : []));
    const concerns = types.map((type) => concernOf({ ...activity(''), type } as FeedEvent));
    for (const method of ['listWallets', 'listPolicies', 'listUserSummaries', 'listVelocityUsage', 'getIpAllowlist']) {
      expect(concerns.some((concern) => concern !== 'everything' && isConcerned(concern, method))).toBe(true);
    }
  });

  test('together they concern what either does', () => {
    const both = together(concernOf(activity('CREATE_WALLET')), concernOf(activity('DELETE_POLICY')));
    expect([isConcerned(both, 'listWallets'), isConcerned(both, 'listPolicies')]).toEqual([true, true]);
    expect(together(both, 'everything')).toBe('everything');
  });
});
