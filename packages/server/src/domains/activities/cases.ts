import { expect } from 'vitest';
import { ETHEREUM } from '../../../test/fixtures/keys.ts';
import { newPending } from '../../../test/fixtures/users.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { PAGE_INFO, type World, withId } from '../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../test/operations/hostile-case.ts';

const lastActivity = async ({ root }: World): Promise<string> =>
  (await root.submit('update_user_name', { userId: root.userId, userName: 'n' })).body.activity.id;

export const cases: DomainCases = {
  get_activity: {
    query: {
      parameters: withId('activityId', lastActivity),
      answer: ({ root }) => ({ activity: expect.objectContaining({ organizationId: root.organizationId }) }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  list_activities: {
    query: { answer: () => ({ activities: expect.any(Array), pageInfo: PAGE_INFO }) },
    hostile: byRoot((tenant) => ({
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_REJECTED'],
      filterByType: ['ACTIVITY_TYPE_UPDATE_USER_NAME'],
      filterByUserId: tenant.root.userId,
      createdAfterMs: '1',
      createdBeforeMs: String(Date.now()),
    })),
    // It narrows the list: of a user elsewhere there is nothing.
    ids: { filterByUserId: [] },
  },
  list_approvals: {
    query: {
      answer: () => ({
        approvals: expect.any(Array),
        counts: { forMe: expect.any(Number), forOthers: expect.any(Number), isComplete: true },
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({ filter: 'FOR_ME' })),
  },
  get_approval: {
    query: {
      parameters: withId('activityId', lastActivity),
      answer: ({ root }) => ({
        approval: {
          activity: expect.objectContaining({ organizationId: root.organizationId }),
          progress: expect.objectContaining({ waitsForMe: false, outcome: 'ACTIVITY_STATUS_COMPLETED' }),
          description: expect.objectContaining({ type: 'ACTIVITY_TYPE_UPDATE_USER_NAME' }),
        },
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  get_activity_votes: {
    query: {
      parameters: withId('activityId', async ({ root }) => {
        const wallet = { walletName: 'Voted', accounts: [ETHEREUM] };
        return (await root.submit('create_wallet', wallet)).body.activity.id;
      }),
      answer: () => ({
        votes: [
          expect.objectContaining({
            selection: 'VOTE_SELECTION_APPROVED',
            message: expect.stringContaining('ACTIVITY_TYPE_CREATE_WALLET'),
            publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
            signature: expect.stringMatching(/^30[0-9a-f]+$/),
            scheme: 'SIGNATURE_SCHEME_TK_API_P256',
          }),
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  describe_activity: {
    query: {
      parameters: withId('activityId', async ({ root }) => {
        const wallet = { walletName: 'Described', accounts: [ETHEREUM] };
        return (await root.submit('create_wallet', wallet)).body.activity.id;
      }),
      answer: () => ({
        description: expect.objectContaining({
          type: 'ACTIVITY_TYPE_CREATE_WALLET',
          text: 'Create wallet Described with 1 account.',
          risk: 'ROUTINE',
        }),
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  describe_activities: {
    query: {
      parameters: async ({ root }) => ({ activityIds: [await lastActivity({ root } as World)] }),
      answer: () => ({ descriptions: [expect.objectContaining({ type: 'ACTIVITY_TYPE_UPDATE_USER_NAME' })] }),
      foreignAnswer: { descriptions: [] },
    },
    hostile: byRoot((tenant) => ({ activityIds: [tenant.ids.activity] })),
    // What is elsewhere is left out, as what is nowhere.
    ids: { 'activityIds.0': [] },
  },
  list_app_proofs: {
    query: {
      parameters: withId('activityId', async ({ root }) => {
        const wallet = { walletName: 'Proven', accounts: [ETHEREUM] };
        return (await root.submit('create_wallet', wallet, { generateAppProofs: true })).body.activity.id;
      }),
      answer: () => ({
        appProofs: ['APP_PROOF_TYPE_POLICY_OUTCOME', 'APP_PROOF_TYPE_ADDRESS_DERIVATION'].map((type) => ({
          scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
          publicKey: expect.stringMatching(/^(?:04[0-9a-f]{128}){2}$/),
          proofPayload: expect.stringContaining(`"type":"${type}"`),
          signature: expect.stringMatching(/^[0-9a-f]{128}$/),
        })),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  approve_activity: {
    hostile: byRoot(async (tenant) => ({
      fingerprint: (await newPending(tenant.root, tenant.second, fresh(tenant))).fingerprint,
    })),
  },
  reject_activity: {
    hostile: byRoot(async (tenant) => ({
      fingerprint: (await newPending(tenant.root, tenant.second, fresh(tenant))).fingerprint,
    })),
  },
};
